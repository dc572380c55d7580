"""Structural ranks by causality against ranks of numbers, and controllability and observability by paths against Kalman's."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given

import eslabon as es
from bond_graph_strategies import built, graphs, with_general_values
from randomness import examples, seeds


def linear_model(drawn, seed):
    """A drawn graph with other values, and its matrices."""
    g = with_general_values(built(*drawn), seed)
    return g, g.linearize(np.zeros(g.order), np.zeros(len(g.inputs)))


def rank(matrix):
    sizes = np.linalg.svd(matrix, compute_uv=False)
    return int((sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum())


@examples(30)
@given(graphs(), seeds)
def test_structural_ranks_are_those_of_the_matrices(drawn, seed):
    """Of the state matrix, and by dualised sources of the state matrix beside that of the inputs."""
    g, linear = linear_model(drawn, seed)
    structural = g.structural_rank()
    assert structural.rank == structural.structure_rank == rank(linear.A)
    assert structural.causal_rank == g.order - len(structural.staying)
    if g.inputs:
        c = g.controllability()
        assert c.rank == rank(np.hstack([linear.A, linear.B]))
        if not c.structural:  # whatever the parameters
            assert not es.control.controllability((linear.A, linear.B)).full


@examples(30)
@given(graphs(loops=0), seeds)
def test_causality_alone_gives_the_rank_without_meshes(drawn, seed):
    g, linear = linear_model(drawn, seed)
    assert g.structural_rank().causal_rank == rank(linear.A)
    if g.inputs:
        assert g.controllability().causal_rank == rank(np.hstack([linear.A, linear.B]))


def test_a_mesh_that_cancels():
    """Two ways round with opposite signs: causality is content, but nothing gets through."""
    elements = {"a": "1", "b": "1", "c": "0", "d": "0", "m": "I: 1", "k": "C: 1"}
    g = es.BondGraph("mesh", elements, ["a -> b", "a -> c", "a -> d", "d -> b", "c -> m", "d -> k"])
    r = g.structural_rank()
    assert (r.causal_rank, r.structure_rank, r.rank) == (2, 0, 0)
    np.testing.assert_array_equal(g.linearize([0.0, 0.0]).A, 0)


@examples(30)
@given(graphs(ends=("Se", "I: 1", "C: 1", "R: 1")), seeds)
def test_dualised_detectors_give_the_rank_with_outputs(drawn, seed):
    elements, bonds = drawn
    elements, bonds = dict(elements), list(bonds)
    for k, kind in enumerate(elements[name] for name in list(elements) if name.startswith("j")):
        if k % 2 == 0:
            elements[f"y{k}"] = "Df" if kind == "1" else "De"
            bonds.append(f"j{k} -> y{k}")
    g, linear = linear_model((elements, bonds), seed)
    o = g.observability()
    assume(
        not g.junction_structure().casadi("S34").nnz()
    )  # outputs that are rates of dependent storages
    assert o.rank == rank(np.vstack([linear.A, linear.C]))
    if not o.structural:
        assert not es.control.observability((linear.A, linear.C)).full


def test_a_mass_without_a_spring():
    g = es.BondGraph(
        "free", {"F": "Se", "v": "1", "m": "I: 2", "y": "Df"}, ["F -> v -> m", "v -> y"]
    )
    assert g.structural_rank().staying == ("p2",)
    c, o = g.controllability([0.0]), g.observability([0.0])
    assert (c.rank, c.dualized, c.structural, c.kalman.rank) == (1, ("F",), True, 1)
    assert (o.rank, o.dualized, o.structural, o.kalman.rank) == (1, ("y",), True, 1)


def test_two_springs_that_share_a_flow():
    """Both are connected to the source, but only their sum is controlled."""
    g = es.BondGraph(
        "springs", {"v": "Sf", "j": "1", "a": "C: 1", "b": "C: 3"}, ["v -> j -> a", "j -> b"]
    )
    c = g.controllability([0.0, 0.0])
    assert not c.unconnected
    assert (c.rank, c.structure_rank, c.kalman.rank) == (1, 1, 1)
    assert not c.structural
    assert c.agrees
    assert "keeps integral causality" in repr(c)


def test_a_part_that_nothing_reaches():
    g = es.BondGraph(
        "two", {"F": "Se", "v": "1", "m": "I: 2", "R": "R: 1", "w": "1", "n": "I: 3", "S": "R: 2"},
        ["F -> v -> m", "v -> R", "w -> n", "w -> S"],
    )  # fmt: skip
    c = g.controllability([0.0, 0.0])
    assert c.unconnected == ("p4",)
    assert c.rank == 2
    assert not c.structural
    assert c.agrees
    assert "no causal path for p4" in repr(c)


def test_equal_branches_are_a_special_case():
    """Two equal tanks under one pump: controllable by structure, but for these parameters not."""
    parts = {
        "p": ("Sf", "a"),
        "r1": ("R: 1", "a", "b"),
        "r2": ("R: r", "a", "c"),
        "left": ("C: 1", "b"),
        "right": ("C: c", "c"),
    }
    parts |= {"s1": ("R: 1", "b"), "s2": ("R: r", "c")}
    g = es.BondGraph.of_circuit_parts("tanks", parts, parameters={"r": 1.0, "c": 1.0})
    with pytest.warns(es.SingularityWarning, match="special case"):
        c = g.controllability([0.0, 0.0])
    assert c.structural
    assert not c.agrees
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert g.with_parameters(c=2.0).controllability([0.0, 0.0]).kalman.full


def test_the_puma_is_observable_by_structure_and_not_at_rest():
    """Claim 7 of the thesis (L3011): paths to all storages; but at rest the gyrators vanish and the rank is 2 of 4."""
    g = es.BondGraph.load("morales_puma").with_detectors(y="f3")
    assert g.observability().structural
    with pytest.warns(es.SingularityWarning, match="of p24, q23 have moduli that vanish"):
        rest = g.observability(np.zeros(4))
    assert rest.kalman.rank == 2
    assert rest.vanishing == ("p24", "q23")
    unequal = g.with_parameters(ix=0.5, iy=1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        moving = unequal.observability([0.3, 0.8, 0.4, 0.2], [1.0, 2.0])
    assert moving.kalman.rank == 4
    assert moving.vanishing == ()


def test_the_puma_with_equal_inertias_never_shows_joint_1():
    """With ix = iy, as in the thesis' numbers, p12 cos q3 - p13 sin q3 is zero: no coupling, whatever the motion."""
    g = es.BondGraph.load("morales_puma").with_detectors(y="f3")
    with pytest.warns(es.SingularityWarning, match="rank at this state is 2 of 4"):
        g.observability([0.3, 0.8, 0.4, 0.2], [1.0, 2.0])


def test_the_stanford_arm_from_joint_2():
    """L3075: all storages connected, the platform too; at the printed point the rank is a matter of round-off."""
    g = es.BondGraph.load("morales_stanford").with_detectors(y="f3")
    o = g.observability()
    assert o.structural
    assert not o.unconnected
    assert set(o.paths) == set(g.states)
    with pytest.warns(es.SingularityWarning):
        rest = g.observability(g.steady_state([2.5, 0.0, 1.0, -0.5]).x, [2.5, 0.0, 1.0, -0.5])
    assert rest.kalman.rank < 7


def test_both_robots_are_controllable_at_rest():
    for name in ("morales_puma", "morales_stanford_constant"):
        g = es.BondGraph.load(name)
        assert g.structural_rank().full  # every storage accepts derivative causality
        c = g.controllability(np.zeros(g.order))
        assert c.structural
        assert c.kalman.full


def test_undamped_oscillations_are_not_seen_by_the_rank():
    """Theorem 5.1 says less than it is printed to: full rank, and yet no asymptotic stability."""
    g = es.BondGraph(
        "swing", {"F": "Se", "v": "1", "m": "I: 1", "k": "C: 1"}, ["F -> v -> m", "v -> k"]
    )
    assert g.structural_rank().full
    np.testing.assert_allclose(g.linearize([0.0, 0.0], [0.0]).poles.real, 0, atol=1e-12)


def test_dependent_storages_count_once():
    """Two capacitors in parallel are one state; without a source nothing makes both accept derivative causality."""
    g = es.BondGraph("pair", {"j": "0", "a": "C: 1", "b": "C: 2"}, ["j -> a", "j -> b"])
    assert (g.order, g.structural_rank().rank) == (1, 0)


def test_what_is_refused():
    g = es.BondGraph("decay", {"j": "0", "C": "C: 2", "R": "R: 4"}, ["j -> C", "j -> R"])
    with pytest.raises(es.ModelError, match="no inputs"):
        g.controllability()
    with pytest.raises(es.ModelError, match="no detectors"):
        g.observability()
    static = es.BondGraph("static", {"V": "Se", "j": "1", "R": "R: 2"}, ["V -> j -> R"])
    with pytest.raises(es.ModelError, match="no states"):
        static.controllability()
    puma = es.BondGraph.load("morales_puma")
    with pytest.raises(es.EslabonError, match="one state"):
        puma.controllability(np.zeros((2, 4)))
    with pytest.raises(es.EslabonError, match="finite"):
        puma.controllability([np.nan, 0, 0, 0])
    with pytest.raises(es.ModelError, match="open ports"):
        es.BondGraph.load("euler_ring").structural_rank()
