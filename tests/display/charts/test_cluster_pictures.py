"""The picture of clusters: what it holds, and what is said of bad input."""

import pytest

from kinemorph.display.charts.plot_clusters import plot_clusters
from kinemorph.errors import KinemorphError


def test_a_diagram_shows_points_shares_and_one_gait(tmp_path):
    path = tmp_path / "clusters.png"
    figure = plot_clusters(over="r", coupling="global", steps=3000, values=61, starts=4, path=path)
    points, shares, strip, bar = figure.axes
    assert points.get_xlim() == shares.get_xlim() == (2.0, 4.0)
    assert strip.get_title(loc="left") == "seed 0, r = 3.9, epsilon = 0.3: 2 clusters, period 2"
    assert strip.images[0].get_array().shape == (6, 32) and bar.get_ylabel() == "x"
    assert "epsilon = 0.3" in figure.texts[0].get_text() and path.stat().st_size > 20_000
    # below r = 3 all maps come to rest at 1 - 1 / r, in the color of one cluster
    x, y = points.lines[-2].get_data()
    low = x < 2.9
    assert low.any() and y[low] == pytest.approx(1.0 - 1.0 / x[low], abs=1e-3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"over": "x"}, "over is 'x'; expected 'r' or 'epsilon'"),
        ({"map": "tentt"}, "map is 'tentt'"),
        ({"span": (0.0, 1.5)}, "epsilon is 1.5"),
        ({"over": "r", "span": (3.0, 5.0)}, "r is 5"),
        ({"values": 0}, "values is 0; expected a whole number from 1 to 4096"),
    ],
)
def test_bad_input_is_a_sentence(given, sentence):
    with pytest.raises(KinemorphError, match=sentence):
        plot_clusters(**given)
