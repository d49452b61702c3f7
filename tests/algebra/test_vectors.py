"""Small vectors: they agree with NumPy, and zeros stay zeros."""

import numpy as np
import pytest

from kinemorph.algebra import vectors as la
from kinemorph.algebra.dual import derivative
from kinemorph.codegen.graphs.graph import Expr, Graph
from support.references.twist_matrices import vee

rng = np.random.default_rng(3)


def tup(array):
    return tuple(map(tup, array)) if np.ndim(array) else float(array)


@pytest.mark.parametrize("trial", range(5))
def test_they_compute_what_numpy_computes(trial):
    a, b = rng.normal(size=(2, 3))
    A, B = rng.normal(size=(2, 3, 3))
    p, q, P, Q = tup(a), tup(b), tup(A), tup(B)
    pairs = [
        (la.add(p, q), a + b), (la.sub(p, q), a - b), (la.neg(p), -a), (la.scale(2.5, p), 2.5 * a),
        (la.dot(p, q), a @ b), (la.cross(p, q), np.cross(a, b)), (la.norm(p), np.linalg.norm(a)),
        (la.normalize(p), a / np.linalg.norm(a)), (la.total(p), a.sum()), (la.zeros(3), np.zeros(3)),
        (la.matvec(P, p), A @ a), (la.matvec_transposed(P, p), A.T @ a), (la.matmul(P, Q), A @ B),
        (la.transpose(P), A.T), (la.outer(p, q), np.outer(a, b)), (la.identity(3), np.eye(3)),
        (la.diagonal(p), np.diag(a)), (la.mat_add(P, Q), A + B), (la.mat_sub(P, Q), A - B), (la.mat_neg(P), -A),
        (la.mat_scale(2.0, P), 2.0 * A), (la.trace(P), np.trace(A)),
        (la.block([[P, Q], [Q, P]]), np.block([[A, B], [B, A]])),
        (la.det3(P), np.linalg.det(A)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_hat_is_the_cross_product_and_vee_takes_it_back():  # 000-01
    a, b = tup(rng.normal(size=(2, 3)))
    np.testing.assert_allclose(la.matvec(la.hat(a), b), la.cross(a, b), atol=1e-15)
    assert vee(la.hat(a)) == a
    assert la.hat(a) == la.mat_neg(la.transpose(la.hat(a)))


def test_a_product_of_sparse_matrices_makes_only_the_nodes_it_needs():
    graph = Graph()
    c, s, x = (graph.input(name) for name in "csx")
    R = ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))
    before = len(graph)
    product = la.matmul(R, ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
    assert len(graph) == before  # only signs and places change
    zero = [(i, j) for i in range(3) for j in range(3) if not isinstance(product[i][j], Expr)]
    assert zero == [(0, 1), (1, 1), (2, 0), (2, 1), (2, 2)]
    assert all(type(product[i][j]) is float for i, j in zero)
    assert la.cross((0.0, 0.0, x), (0.0, 0.0, s)) == (0.0, 0.0, 0.0)
    assert la.dot((0.0, x), (c, 0.0)) == 0.0 and len(graph) == before


def test_batches_run_entry_by_entry():
    A, x = rng.normal(size=(3, 3, 8)), rng.normal(size=(3, 8))
    batch = np.array(la.matvec(tuple(map(tuple, A)), tuple(x)))
    np.testing.assert_allclose(batch, np.einsum("ijn,jn->in", A, x), rtol=1e-13)


def test_the_length_of_nothing_is_zero_and_so_is_its_slope():
    assert la.norm((0.0, 0.0, 0.0)) == 0.0
    assert derivative(la.norm, (0.0, 0.0, 0.0), (1.0, 2.0, 3.0)) == 0.0
    assert derivative(la.norm, (3.0, 0.0, 4.0), (1.0, 2.0, 3.0)) == 3.0
    batch = derivative(la.norm, (np.array([0.0, 3.0]), np.array([0.0, 4.0])), (1.0, 2.0))
    assert batch.tolist() == [0.0, 2.2]


def test_lengths_must_match():
    with pytest.raises(ValueError):
        la.dot((1.0, 2.0), (1.0, 2.0, 3.0))
