"""Maps over poses: cell by cell against closed formulas, brute-force assembly and `conditions`."""

from itertools import product

import casadi
import numpy as np
import pytest

import eslabon as es
from eslabon.compiler import native
from eslabon.formulas.small_matrices import extreme_singular_values, triangular
from eslabon.solve.workspace.map_conditions import condition_numbers
from traced_graph import traced_graph

FIVE_BAR = {"x": (-0.1, 0.2), "y": (-0.15, 0.15)}
PLANAR = {"x": (-0.25, 0.25), "y": (-0.25, 0.25), "angle": 0.3}


@pytest.fixture(scope="module")
def five_bar():
    m = es.load("five_bar")
    return m, m.workspace_map(over=FIVE_BAR, shape=(41, 40), configurations=True)


@pytest.fixture(scope="module")
def planar():
    m = es.load("planar_3rrr")
    return m, m.workspace_map(over=PLANAR, shape=50, configurations=True)


def positions(found):
    return np.stack(np.meshgrid(*found.axes.values(), indexing="ij"), axis=-1)


def crank_angles(p, base, crank, coupler):
    """Both angles of a crank at `base` whose coupler's end is at points p, NaN out of reach: the law of cosines."""
    way = p - base
    d = np.linalg.norm(way, axis=-1)
    with np.errstate(invalid="ignore"):
        bend = np.arccos((crank**2 + d**2 - coupler**2) / (2 * crank * d))
    direction = np.arctan2(way[..., 1], way[..., 0])
    return direction + bend, direction - bend


def turned(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


# -- small matrices in a graph ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 3), (6, 3), (2, 6), (6, 6), (9, 9)])
def test_singular_values_and_signs_are_those_of_lapack(shape, rng):
    A = rng.normal(size=(400, *shape))
    A[::2, :, -1] = A[::2, :, 0] + A[::2, :, -1] * 10.0 ** rng.uniform(
        -12, 0, (200, 1)
    )  # nearly singular
    A[1::4] *= 10.0 ** rng.uniform(-5, 0, (100, 1, shape[1]))  # badly scaled

    def formula(X):
        least, most = extreme_singular_values(X)
        sign = triangular(X).sign if shape[0] == shape[1] else casadi.SX(1)
        return [least / most, sign]

    outputs = [native.Argument("ratio", ()), native.Argument("sign", ())]
    graph = traced_graph("judged", [casadi.SX.sym("A", *shape)], formula)
    ratio, sign = native.compile(
        graph, inputs=[native.Argument("A", shape)], outputs=outputs, cache=False
    )(A)
    values = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(ratio, values[:, -1] / values[:, 0], atol=1e-12)
    if shape[0] == shape[1]:
        np.testing.assert_array_equal(sign, np.linalg.slogdet(A)[0])


@pytest.mark.parametrize(("name", "frame", "part"), [
    ("five_bar", "point", "translation"), ("five_bar", "point", "all"), ("delta", "centre", "all"),
    ("puma560", "tool", "all"), ("planar_3rrr", "centre", "translation"),
    ("spatial_four_bar", "coupler", "all"), ("sarrus", "platform", "all"),
])  # fmt: skip
def test_native_conditions_are_those_of_the_verb(name, frame, part, rng):
    m = es.load(name)
    q = m.workspace(frame, samples=40).q if m.closed else rng.uniform(-3, 3, (40, 6))
    found, exact = condition_numbers(m, q, frame, part), m.conditions(q, frame, part)
    for own in found._fields:
        np.testing.assert_allclose(getattr(found, own), getattr(exact, own), atol=1e-11)


# -- where a mechanism closes --------------------------------------------------------------------------------------------------


def test_every_pose_and_mode_of_a_five_bar_is_that_of_the_law_of_cosines(five_bar):
    m, found = five_bar
    v, p = m.parameters, positions(found)
    first = crank_angles(p, [0.0, 0.0], v["L2"], v["L3"])
    second = crank_angles(p, [v["L1"], 0.0], v["L5"], v["L4"])
    exact = [np.stack(pair, axis=-1) for pair in product(first, second)]
    closes = np.isfinite(exact[0]).all(axis=-1)
    assert len(found.modes) == 4
    assert 0.1 < closes.mean() < 0.5
    for k in range(4):
        np.testing.assert_array_equal(found.closes[k], closes)
    cranks = found.q[..., [0, 2]]
    apart = np.array(
        [[np.abs(turned(mine - own))[closes].max() for own in exact] for mine in cranks]
    )
    # A mode is one pair of elbows in each of the two regions, above and below the cranks' line.
    up = closes & (p[..., 1] > 0)
    for region in (up, closes & ~up):
        apart = np.array(
            [[np.abs(turned(mine - own))[region].max() for own in exact] for mine in cranks]
        )
        assert sorted(apart.argmin(axis=1)) == [0, 1, 2, 3]
        assert apart.min(axis=1).max() < 1e-9


def test_configurations_close_and_stand_at_their_poses(planar):
    m, found = planar
    at = found.closes
    assert np.isnan(found.q[~at]).all()
    q, p = found.q[at], np.broadcast_to(positions(found), (*at.shape, 2))[at]
    assert np.abs(m.constraint(q)).max() < 1e-12
    pose = m.pose(q, "centre")
    np.testing.assert_allclose(pose[:, :2, 3], p, atol=1e-12)
    np.testing.assert_allclose(np.arctan2(pose[:, 1, 0], pose[:, 0, 0]), 0.3, atol=1e-12)


def test_all_eight_modes_of_a_planar_robot_reach_where_its_legs_do(planar):
    m, found = planar
    v, p = m.parameters, positions(found)
    closes = np.ones(p.shape[:2], dtype=bool)
    for k in range(3):
        a, b = 2 * np.pi * k / 3 - np.pi / 2, 2 * np.pi * k / 3 - np.pi / 2 + 0.3
        base, corner = (
            v["r_base"] * np.array([np.cos(a), np.sin(a)]),
            v["r_ee"] * np.array([np.cos(b), np.sin(b)]),
        )
        closes &= np.linalg.norm(p + corner - base, axis=-1) <= 2 * v["L"]
    assert sorted(found.modes) == sorted(map("".join, product("+-", repeat=3)))
    for own in found.closes:
        np.testing.assert_array_equal(own, closes)


def test_modes_are_those_that_assembly_finds(planar):
    m, found = planar
    for i, j in ((25, 25), (12, 30), (40, 28)):
        mine = found.q[:, i, j]
        modes = m.assembly_modes(es.Target(pose=m.pose(mine[0], "centre")))
        apart = np.abs(turned(mine[:, None] - modes)).max(axis=-1)
        assert len(modes) == 8
        assert apart.min(axis=0).max() < 1e-8
        assert apart.min(axis=1).max() < 1e-8


def test_conditions_of_a_map_are_those_of_the_verb(planar):
    m, found = planar
    at = np.flatnonzero(found.closes)[::37]
    exact = m.conditions(found.q.reshape(-1, m.nq)[at], "centre", found.part)
    assert found.part == "all"
    for name, other in (
        ("parallel", "parallel"),
        ("serial", "serial"),
        ("sign", "sign"),
        ("serial_sign", "serial_sign"),
    ):
        np.testing.assert_allclose(
            getattr(found, name).ravel()[at], getattr(exact, other), atol=1e-9
        )
    assert found.dexterity == pytest.approx(
        m.conditions(found.q[found.closes], "centre").serial.mean()
    )


def test_area_of_an_arm_is_that_of_its_annulus():
    m = es.load("elbow").with_parameters(a1=1.0, a2=0.6)
    found = m.workspace_map(over={"x": (-1.7, 1.7), "y": (-1.7, 1.7)}, shape=240)
    border = 2 * np.pi * (1.6 + 0.4)
    assert abs(found.area - np.pi * (1.6**2 - 0.4**2)) < 0.1 * border * found.resolution["x"]
    assert found.resolution["x"] == pytest.approx(3.4 / 240)
    assert found.modes == ("+", "-")
    assert (found.components.max(axis=(1, 2)) == 1).all()


def test_a_slice_of_a_delta_robot_is_where_its_three_legs_reach():
    m = es.load("delta")
    v = m.parameters
    over = {"x": (-0.9, 0.9), "y": (-0.9, 0.9), "z": (-0.9, -0.3)}
    found = m.workspace_map(over=over, shape=(17, 17, 3), limits=False, modes=m.home())
    p = positions(found)
    closes = np.ones(p.shape[:3], dtype=bool)
    for turn in np.radians([0, 120, 240]):
        u, across = (
            np.array([np.cos(turn), np.sin(turn), 0]),
            np.array([-np.sin(turn), np.cos(turn), 0]),
        )
        way = (
            p - (v["r_base"] - v["r_platform"]) * u
        )  # from the arm's hinge to where both rods end, as one between them
        d, side = np.hypot(way @ u, way[..., 2]), way @ across
        rod = np.sqrt(np.maximum(v["L_rod"] ** 2 - side**2, 0))
        closes &= (
            (np.abs(side) <= v["L_rod"]) & (d <= v["L_arm"] + rod) & (d >= np.abs(v["L_arm"] - rod))
        )
    np.testing.assert_array_equal(found.closes[0], closes)
    one = found.slice(z=-0.65)
    assert one.fixed["z"] == pytest.approx(-0.6)
    np.testing.assert_array_equal(one.closes[0], closes[..., 1])
    assert found.volume == pytest.approx(closes.sum() * np.prod(list(found.resolution.values())))


def test_every_way_to_bend_the_legs_of_a_delta_robot_is_one_mode():
    """Its arms stand on one side of the line to the rods' end or on the other: the law of cosines gives two angles for each."""
    m = es.load("delta")
    v, z = m.parameters, -0.5
    found = m.workspace_map(over={"x": (-0.9, 0.9), "y": (-0.9, 0.9), "z": z}, shape=30, limits=False, configurations=True)  # fmt: skip
    p = np.concatenate([positions(found), np.full((30, 30, 1), z)], axis=-1)
    sides = np.empty((*found.closes.shape, 3))
    for leg, turn in enumerate(np.radians([0, 120, 240])):
        way = p - (v["r_base"] - v["r_platform"]) * np.array([np.cos(turn), np.sin(turn), 0])
        direction = np.arctan2(-way[..., 2], way @ np.array([np.cos(turn), np.sin(turn), 0]))
        sides[..., leg] = np.sign(
            turned(found.q[..., m.coordinates[f"arm{leg + 1}"]][..., 0] - direction)
        )
    each = [np.unique(own[at], axis=0) for own, at in zip(sides, found.closes, strict=True)]
    assert all(len(own) == 1 for own in each)  # nowhere does a mode become another
    assert sorted(map(tuple, np.concatenate(each))) == sorted(product((-1.0, 1.0), repeat=3))
    assert (found.closes == found.closes[0]).all()
    # Where its platform could turn it is held by its legs no longer, but the arms still move it: serial curves are at the border alone.
    outside = p[..., :2][~found.closes[0]]
    for x in np.concatenate(found.singular_curves("serial")):
        assert np.linalg.norm(outside - x, axis=-1).min() < 1.5 * found.resolution["x"]


def test_limits_of_joints_bound_what_is_reached():
    m = (
        es.load("elbow")
        .with_joint("theta1", limits=(-0.5, 2.0))
        .with_joint("theta2", limits=(0.3, 2.5))
    )
    over, shape = {"x": (-2.1, 2.1), "y": (-2.1, 2.1)}, 60
    found, free = (
        m.workspace_map(over=over, shape=shape, limits=limits) for limits in (True, False)
    )
    p = positions(found)
    d2 = (p**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        bend = np.arccos((d2 - 2) / 2)
    swing = turned(np.arctan2(p[..., 1], p[..., 0]) - bend / 2)
    inside = (bend >= 0.3) & (bend <= 2.5) & (swing >= -0.5) & (swing <= 2.0)
    assert len(found.modes) == 1
    assert len(free.modes) == 2
    np.testing.assert_array_equal(found.reached[0], inside)
    np.testing.assert_array_equal(free.reached.any(axis=0), np.isfinite(bend))
    assert found.area < free.area


def test_an_arm_that_turns_about_one_axis_only_reaches_its_annulus():
    """Of the three equations of its orientation two hold anywhere, but for round-off."""
    m = es.load("scara")
    found = m.workspace_map(
        over={"x": (-0.7, 0.7), "y": (-0.7, 0.7), "z": 0.3, "yaw": 0.5}, shape=30, limits=False
    )
    d = np.linalg.norm(positions(found), axis=-1)
    for own in found.closes:
        np.testing.assert_array_equal(own, (d <= 0.325 + 0.275) & (d >= 0.325 - 0.275))
    assert len(found.modes) == 2


def test_limits_hide_no_mode_that_is_within_them_somewhere():
    m = es.load("puma560")
    over = {"x": (-1.0, 1.0), "y": (-1.0, 1.0), "z": 0.2, "roll": 0.2, "pitch": 0.1, "yaw": 0.0}
    within, free = (m.workspace_map(over=over, shape=30, limits=limits) for limits in (True, False))
    counts = (free.closes & free.within_limits).sum(axis=(1, 2))
    assert len(free.modes) == 8
    assert counts.min() < 30  # of more than 500 poses
    assert sorted(within.reached.sum(axis=(1, 2))) == sorted(counts[counts > 0])


# -- joints in place of poses ----------------------------------------------------------------------------------------------------


def test_over_joints_the_loops_close_where_the_couplers_meet():
    m = es.load("five_bar").with_parameters(L2=0.08, L5=0.08)
    found = m.workspace_map(over={"theta2": (0.0, 6.2), "theta5": (0.0, 6.2)}, shape=40)
    a, b = np.meshgrid(*found.axes.values(), indexing="ij")
    v = m.parameters
    across = np.hypot(
        v["L1"] + v["L5"] * np.cos(b) - v["L2"] * np.cos(a),
        v["L5"] * np.sin(b) - v["L2"] * np.sin(a),
    )
    assert len(found.modes) == 2
    for own in found.closes:
        np.testing.assert_array_equal(own, across <= v["L3"] + v["L4"])
    assert found.border_kind == "parallel"
    signs = [set(found.sign[k][found.closes[k]]) for k in range(2)]
    assert signs in ([{1}, {-1}], [{-1}, {1}])  # the two assembly modes
    borders = np.concatenate(found.singular_curves("parallel"))
    a, b = borders.T
    across = np.hypot(
        v["L1"] + v["L5"] * np.cos(b) - v["L2"] * np.cos(a),
        v["L5"] * np.sin(b) - v["L2"] * np.sin(a),
    )
    assert np.abs(across - 0.2).max() < 0.5 * 0.08 * found.resolution["theta2"]


def test_the_border_of_a_map_over_a_joint_and_a_pose_is_no_singularity():
    found = es.load("five_bar").workspace_map(
        over={"theta2": (-1.0, 1.0), "x": (-0.1, 0.2)}, shape=40
    )
    assert found.border_kind is None
    assert not found.closes.any(axis=0).all()
    assert np.nanmin(found.parallel) > 0.05
    assert not found.singular_curves("parallel")
    assert found.singular_curves("serial")  # inside


def test_over_joints_an_arm_is_singular_where_it_is_stretched():
    found = es.load("elbow").workspace_map(
        over={"theta1": (-3.0, 3.0), "theta2": (-3.0, 3.0)}, shape=31
    )
    assert found.closes.all()
    (curve,) = found.singular_curves("serial")
    np.testing.assert_allclose(curve[:, 1], 0.0, atol=1e-9)
    assert found.components.max() == 2


# -- singular curves -------------------------------------------------------------------------------------------------------------


def test_on_parallel_curves_locked_actuators_do_not_hold_the_robot(planar):
    m, found = planar
    curves = found.singular_curves("parallel", found.modes[1])
    points = np.concatenate(curves)
    own, p = found.closes[1], positions(found)
    near = [np.argmin(np.where(own, np.linalg.norm(p - x, axis=-1), np.inf)) for x in points]
    guess = found.q[1].reshape(-1, m.nq)[near]
    values = []
    for x, q in zip(points[::7], guess[::7], strict=True):
        there = m.assemble(es.Target("centre", planar=(*x, 0.3)), q, report=True).q
        values.append(
            m.conditions(there, "centre").parallel
            if np.abs(m.constraint(there)).max() < 1e-9
            else np.nan
        )
    slope = np.nanmax(
        np.abs(np.diff(found.parallel[1] * found.sign[1], axis=0))
    )  # from cell to cell
    assert np.nanmax(values) < slope
    assert np.nanmedian(values) < 0.05 * np.nanmedian(found.parallel[1])


def test_serial_curves_of_a_five_bar_are_where_a_leg_is_stretched_or_folded(five_bar):
    m, found = five_bar
    v = m.parameters
    points = np.concatenate(found.singular_curves("serial"))
    reach = [np.linalg.norm(points - base, axis=-1) for base in ([0.0, 0.0], [v["L1"], 0.0])]
    off = np.min(
        [np.abs(d - r) for d in reach for r in (v["L2"] + v["L3"], v["L3"] - v["L2"])], axis=0
    )
    assert np.median(off) < 0.2 * found.resolution["x"]
    assert off.max() < found.resolution["x"]
    assert not found.singular_curves("parallel")


def test_regions_without_singular_configurations_are_told_apart(planar):
    _, found = planar
    for regions, reached, sign in zip(found.components, found.reached, found.sign, strict=True):
        assert ((regions > 0) == reached).all()
        sizes = np.bincount(regions.ravel())[1:]
        assert (np.diff(sizes) <= 0).all()
        for k in range(1, len(sizes) + 1):
            assert len(set(sign[regions == k])) == 1
        assert len(sizes) > 1


# -- modes, designs, shapes ---------------------------------------------------------------------------------------------------------


def test_modes_are_chosen_by_name_by_configuration_or_by_the_mechanisms_own(five_bar):
    m, found = five_bar
    q = found.q[1][found.closes[1]][0]
    chosen = m.workspace_map(over=FIVE_BAR, shape=20, modes=q)
    assert chosen.modes == (found.modes[1],)
    by_name = m.workspace_map(over=FIVE_BAR, shape=20, modes=(found.modes[1], found.modes[2]))
    assert by_name.modes == (found.modes[1], found.modes[2])
    np.testing.assert_array_equal(by_name.parallel[0], chosen.parallel[0])
    own = m.with_mode("bent", q).workspace_map(over=FIVE_BAR, shape=20, modes="bent")
    assert own.modes == ("bent",)
    np.testing.assert_array_equal(own.serial, chosen.serial)


def test_a_design_gives_the_map_of_the_mechanism_with_its_parameters():
    m = es.load("five_bar")
    one = m.workspace_map(over=FIVE_BAR, shape=21, parameters={"L2": 0.05, "L3": 0.11}, threads=1)
    other = m.with_parameters(L2=0.05, L3=0.11).workspace_map(over=FIVE_BAR, shape=21)
    assert one.modes == other.modes
    np.testing.assert_array_equal(one.closes, other.closes)
    np.testing.assert_allclose(one.serial, other.serial, atol=1e-10)


def test_a_coarse_map_is_a_part_of_a_fine_one(five_bar):
    m, _ = five_bar
    coarse, fine = (m.workspace_map(over=FIVE_BAR, shape=n) for n in (9, 81))
    np.testing.assert_allclose(coarse.axes["x"], fine.axes["x"][4::9], atol=1e-15)
    for name in coarse.modes:
        np.testing.assert_array_equal(
            coarse.mode(name).closes[0], fine.mode(name).closes[0][4::9, 4::9]
        )


def test_modes_with_the_same_signs_are_told_apart_by_continuity():
    m = es.load("puma560")
    over = {"x": (-1.0, 1.0), "y": (-1.0, 1.0), "z": 0.1, "roll": 0.0, "pitch": 0.4, "yaw": 0.0}
    found = m.workspace_map("tool", over=over, shape=25, configurations=True, limits=False)
    assert len(found.modes) == 8
    at = found.closes.all(axis=0)
    assert at.mean() > 0.3
    q = found.q[:, at]
    for i, j in product(range(8), repeat=2):
        if i < j:
            assert np.abs(turned(q[i] - q[j])).max(axis=-1).min() > 1e-3
    pose = m.pose(q, "tool")
    np.testing.assert_allclose(pose, np.broadcast_to(pose[0], pose.shape), atol=1e-9)


# -- what is shown, what is refused ---------------------------------------------------------------------------------------------------


def test_a_map_shows_itself(five_bar, tmp_path):
    _, found = five_bar
    assert repr(found).startswith("<WorkspaceMap of five_bar: x 41, y 40; 4 working modes, 0.015")
    figure = found.plot(theme="dark", path=tmp_path / "map.png")
    assert [ax.get_title(loc="left") for ax in figure.axes[:4]] == [
        f"mode {name}" for name in found.modes
    ]
    assert (tmp_path / "map.png").stat().st_size > 10_000
    assert (
        found.plot("parallel", found.modes[0], singular=False).axes[0].get_xlabel()
        == "x of point [m]"
    )
    records = found.table().records()
    assert [row["mode"] for row in records] == list(found.modes)
    assert sum(row["area"] for row in records) == pytest.approx(4 * found.area)
    assert "<img" in found._repr_html_()


def test_a_map_becomes_columns(five_bar):
    pytest.importorskip("pyarrow")
    _, found = five_bar
    columns = found.to_arrow()
    assert columns.column_names[:3] == ["mode", "x", "y"]
    assert columns.num_rows == 4 * 41 * 40
    assert columns["closes"].to_numpy().sum() == found.closes.sum()


@pytest.mark.parametrize(("name", "given", "sentence"), [
    ("five_bar", {}, "two or three coordinates in ranges"),
    ("five_bar", {"over": {"x": (0, 0.1), "yy": (0, 0.1)}}, "not 'yy'; did you mean 'y'"),
    ("five_bar", {"over": {"x": (0, 0.1), "theta22": (0, 0.1)}}, "did you mean 'theta2'"),
    ("five_bar", {"over": {"x": (0.1, 0.1), "y": (0, 0.1)}}, "a lower and a greater upper value"),
    ("five_bar", {"over": {"x": (0.1, 0.0), "y": (0, 0.1)}}, "a lower and a greater upper value"),
    ("five_bar", {"over": {"x": "wide", "y": (0, 0.1)}}, "a lower and a greater upper value"),
    ("five_bar", {"over": {"x": (0, np.nan), "y": (0, 0.1)}}, "a lower and a greater upper value"),
    ("five_bar", {"over": {"x": (0, 0.1), "y": 0.1}}, "over has 1"),
    ("five_bar", {"over": {**FIVE_BAR, "angle": (0, 1)}}, "five_bar cannot move along"),
    ("five_bar", {"over": {"x": (5, 6), "y": (5, 6)}}, "closes at no pose of this map"),
    ("five_bar", {"over": FIVE_BAR, "shape": 3000}, "9,000,000, more than most=4,000,000"),
    ("five_bar", {"over": FIVE_BAR, "shape": (10, 10, 10)}, "how many poses along each of x, y"),
    ("five_bar", {"over": FIVE_BAR, "shape": 1}, "shape"),
    ("five_bar", {"over": FIVE_BAR, "modes": "+*"}, "no working mode '\\+\\*'"),
    ("five_bar", {"over": FIVE_BAR, "modes": [1.0, 2.0]}, "modes has 2 values"),
    ("five_bar", {"over": FIVE_BAR, "part": "turn"}, "part is 'all'"),
    ("five_bar", {"over": FIVE_BAR, "frame": "pont"}, "did you mean 'point'"),
    ("five_bar", {"over": FIVE_BAR, "limits": 1}, "limits is True or False"),
    ("five_bar", {"over": FIVE_BAR, "parameters": {"L22": 1.0}}, "L22"),
    ("planar_3rrr", {"over": FIVE_BAR}, "leaves 1 degree of freedom of planar_3rrr open"),
    ("planar_3rrr", {"over": {**PLANAR, "yaw": 0.0}}, "'angle', in the plane, or roll"),
    ("stewart_gough", {"over": {"x": (0, 1), "ball1.w": (0, 1)}}, "component of a quaternion"),
    ("parallelogram", {"frame": "coupler", "over": {"x": (0, 1), "y": (0, 1)}}, "parallelogram cannot move along"),
])  # fmt: skip
def test_what_cannot_be_mapped_is_refused_in_a_sentence(name, given, sentence):
    with pytest.raises(es.EslabonError, match=sentence):
        es.load(name).workspace_map(**given)


def test_a_mechanism_without_actuators_has_no_map():
    m = es.load("elbow").with_actuated([])
    with pytest.raises(es.ModelError, match="no actuated joints"):
        m.workspace_map(over={"x": (0, 1), "y": (0, 1)})


def test_questions_that_a_map_has_no_answer_to(five_bar):
    _, found = five_bar
    with pytest.raises(es.ModelError, match="no volume"):
        found.volume  # noqa: B018
    with pytest.raises(es.ModelError, match="has no mode '\\*\\*'"):
        found.mode("**")
    with pytest.raises(es.ModelError, match="slice takes one coordinate"):
        found.slice(x=0.1)
    with pytest.raises(es.ModelError, match="kind is 'parallel' or 'serial'"):
        found.singular_curves("paralel")
