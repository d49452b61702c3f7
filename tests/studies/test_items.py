"""Items of studies: keys of their content, and seeds (VALIDATION 12, 13)."""

import numpy as np

from kinemorph.studies.items import items_of, key_of, label_column, number_column, seed_of


def some_items():
    return items_of(
        [
            number_column("mass", [1.0, 2.0, -0.0, np.nan]),
            label_column("gait", [0, 1, -1, 1], ["wave", "tripod"]),
        ]
    )


def test_an_item_has_the_values_of_the_parts_that_apply_to_it():
    items = some_items()
    assert items.names == ("gait", "mass")
    assert list(items) == [
        {"gait": "wave", "mass": 1.0},
        {"gait": "tripod", "mass": 2.0},
        {"mass": 0.0},
        {"gait": "tripod"},
    ]


def test_keys_depend_on_content_alone():
    items = some_items()
    assert items.keys == [key_of(values) for values in items]
    assert len(set(items.keys)) == 4
    assert items.taken([2, 0]).keys == [items.keys[2], items.keys[0]]
    assert key_of({"b": 1, "a": 0.0}) == key_of({"a": -0.0, "b": 1.0})
    assert key_of({"a": 1.0}) != key_of({"a": "1.0"})  # a number is not a label
    assert items.seed(1) == seed_of(items.keys[1])
    assert seed_of(bytes(range(1, 17))) == int.from_bytes(bytes(range(1, 9)), "little")  # 64 bits


def test_keys_of_today_are_those_of_tomorrow():
    assert key_of({"mass": 1.5, "gait": "wave"}).hex() == KNOWN


KNOWN = "4bf5d0a88cd7a2405df04719ce7995c8"  # stores keep keys
