"""Tables of Denavit and Hartenberg, standard and modified."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eslabon as es
from eslabon.formulas.kinematics.tree import on_body, placements
from randomness import examples


def Rz(t):
    return np.array(
        [[np.cos(t), -np.sin(t), 0, 0], [np.sin(t), np.cos(t), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]
    )


def Rx(t):
    return np.array(
        [[1, 0, 0, 0], [0, np.cos(t), -np.sin(t), 0], [0, np.sin(t), np.cos(t), 0], [0, 0, 0, 1.0]]
    )


def shift(x=0.0, z=0.0):
    T = np.eye(4)
    T[0, 3], T[2, 3] = x, z
    return T


def link(convention, theta, d, a, alpha):
    if convention == "standard":
        return Rz(theta) @ shift(z=d) @ shift(x=a) @ Rx(alpha)
    return Rx(alpha) @ shift(x=a) @ Rz(theta) @ shift(z=d)


def homogeneous(placement):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = placement
    return T


number = st.floats(-2, 2).map(lambda x: round(x, 3))
rows = st.lists(
    st.tuples(number, number, number, number, st.sampled_from("RP")), min_size=1, max_size=5
)


@examples(60)
@given(rows, st.sampled_from(["standard", "modified"]), st.booleans(), st.integers(0, 1000))
def test_the_tool_and_every_mass_are_where_the_products_of_matrices_put_them(
    table, convention, symbolic, seed
):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-2, 2, len(table))
    com, I = (
        rng.normal(size=(len(table), 3)),
        [np.diag([1.0, 2.0, 2.5]) + 0.1 * (np.eye(3, k=1) + np.eye(3, k=-1))] * len(table),
    )
    parameters = {
        f"{c}{k}": x for k, row in enumerate(table) for c, x in zip("tdax", row[:4], strict=True)
    }
    described = [
        {**dict(zip(("theta", "d", "a", "alpha"), [f"{c}{k}" for c in "tdax"] if symbolic else row[:4], strict=True)),
         "kind": row[4], "mass": 1.0, "com": com[k], "inertia": I[k]}
        for k, row in enumerate(table)
    ]  # fmt: skip
    m = es.from_dh(described, convention, parameters=parameters if symbolic else None)
    placed, T = placements(m, q), np.eye(4)
    for k, (theta, d, a, alpha, kind) in enumerate(table):
        T = T @ link(convention, theta + q[k] * (kind == "R"), d + q[k] * (kind == "P"), a, alpha)
        body = m.bodies[k]
        R, p = placed[body.name]
        assert np.allclose(R @ np.array(body.com) + p, (T @ np.array([*com[k], 1]))[:3], atol=1e-13)
        assert np.allclose(
            R @ body.inertia_matrix() @ R.T, T[:3, :3] @ I[k] @ T[:3, :3].T, atol=1e-13
        )
    tool = m.frame("tool")
    assert np.allclose(homogeneous(on_body(placed, tool.body, tool.at)), T, atol=1e-13)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_base_and_tool(convention):
    base, tool = Rx(0.3) @ shift(z=1.2), Rz(0.4) @ shift(x=0.1)
    table = [(0.1, 0.2, 0.3, 0.4), (-0.3, 0.1, 0.5, -0.6)]
    m = es.from_dh(table, convention, base=base, tool=tool)
    expected = base @ link(convention, *table[0]) @ link(convention, *table[1]) @ tool
    frame = m.frame("tool")
    assert np.allclose(
        homogeneous(on_body(placements(m, np.zeros(2)), frame.body, frame.at)), expected, atol=1e-14
    )


def test_degrees_names_and_joint_data():
    m = es.from_dh(
        [
            {
                "theta": 90,
                "alpha": -90,
                "name": "upper",
                "joint": "shoulder",
                "limits": (-1, 1),
                "viscous": 0.1,
            }
        ],
        degrees=True,
    )
    assert (m.bodies[0].name, m.joints[0].name, m.joints[0].limits, m.joints[0].viscous) == (
        "upper",
        "shoulder",
        ((-1.0, 1.0),),
        (0.1,),
    )
    assert np.array_equal(m.frame("tool").at.rotation(), [[1, 0, 0], [0, 0, 1], [0, -1, 0]])


@pytest.mark.parametrize(
    ("table", "options", "sentence"),
    [
        ([], {}, "no rows"),
        ([(1, 2, 3)], {}, "row 1 of the table needs four numbers"),
        (["abcd"], {}, "row 1 of the table needs four numbers"),
        ([{"alfa": 1}], {}, "row 1 of the table has the unknown key 'alfa'; did you mean 'alpha'?"),
        ([{"kind": "S"}], {}, "revolute and prismatic"),
        ([{"alpha": 1, "alpha_deg": 1}], {}, "both alpha and alpha_deg"),
        ([{"a": "x"}], {}, "uses the parameter 'x'"),
        ([{"a": "b+"}], {}, "row 1 of the table: a cannot be read"),
        ([(0, 0, 0, 0)], {"convention": "craig"}, "'standard' or 'modified'"),
        (
            [{"theta": "t"}],
            {"base": (0.1, 0.2, 0.3), "parameters": {"t": 1}, "tool": np.eye(3)},
            "a pose is xyz",
        ),
    ],
)
def test_mistakes(table, options, sentence):
    with pytest.raises(es.ModelError, match=sentence):
        es.from_dh(table, **options)


def test_rojas_3r_formulas():
    """The 3R positioner of Rojas 2.5: x, y, z of its end point in closed form."""
    d2, d3 = 0.7, 0.4
    m = es.from_dh([(0, 0, 0, 90), (0, 0, d2, -90), (0, 0, d3, 90)], degrees=True)
    q = np.array([0.3, -0.8, 1.1])
    (c1, c2, c3), (s1, s2, s3) = np.cos(q), np.sin(q)
    frame = m.frame("tool")
    R, p = on_body(placements(m, q), frame.body, frame.at)
    assert np.allclose(
        p,
        [
            d2 * c1 * c2 + d3 * (c1 * c2 * c3 - s1 * s3),
            d2 * s1 * c2 + d3 * (s1 * c2 * c3 + c1 * s3),
            d2 * s2 + d3 * s2 * c3,
        ],
    )
    assert np.trace(R) == pytest.approx(c1 * c2 * c3 - (s1 - s2) * s3 - s1 * s2)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_lengths_and_angles_by_parameters_are_those_by_numbers(convention, rng):
    """Quarter turns among them, at which roll, pitch and yaw are not unique."""
    for k in range(8):
        names = [f"x{i}" for i in range(12)]
        numbers = np.where(
            rng.random(12) < 0.5, np.pi / 2 * rng.integers(-2, 3, 12), rng.normal(size=12)
        )
        by_name = rng.random(12) < 0.6
        rows = np.where(by_name, np.array(names, dtype=object), numbers).reshape(3, 4).tolist()
        extra = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (1.0, 2.0, 2.5, 0.1, -0.2, 0.3)}
        table = [dict(zip(("theta", "d", "a", "alpha"), row, strict=True)) | extra for row in rows]
        plain = [
            dict(zip(("theta", "d", "a", "alpha"), row, strict=True)) | extra
            for row in numbers.reshape(3, 4).tolist()
        ]
        values = dict(zip(names, numbers.tolist(), strict=True))
        base = ((0.1, 0.2, 0.3), (0.3, "x0", 0.2)) if k % 2 else None
        turned = ((0.1, 0.2, 0.3), (0.3, numbers[0], 0.2)) if k % 2 else None
        arm = es.from_dh(table, convention, parameters=values, base=base)
        other = es.from_dh(plain, convention, base=turned)
        q = rng.normal(size=3)
        assert np.allclose(arm.pose(q), other.pose(q), atol=1e-12)
        assert np.allclose(arm.mass_matrix(q), other.mass_matrix(q), atol=1e-12)
