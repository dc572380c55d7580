"""The class users hold: a bond graph with its verbs, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from eslabon.answers import cell_text, figure, svg
from eslabon.arguments import Floats, choice
from eslabon.bond_graph import causality as _causality
from eslabon.bond_graph import graph_files, notation
from eslabon.bond_graph import graph_formulas as _equations
from eslabon.bond_graph.causality import Causality
from eslabon.bond_graph.graph import Graph
from eslabon.bond_graph.graph_values import BondVariables, bond_variables, value
from eslabon.bond_graph.stored_energy import stored_energies
from eslabon.displays import displayed
from eslabon.errors import ModelError, ReadError, format_value
from eslabon.pages import picture, table
from eslabon.pages.notebook import folded
from eslabon.sheets import Sheet

if TYPE_CHECKING:
    from eslabon.bond_graph.causal_paths import CausalPath
    from eslabon.bond_graph.graph_motion_terms import MotionTerms
    from eslabon.bond_graph.graph_runs import Response
    from eslabon.bond_graph.graph_statics import SteadyState
    from eslabon.bond_graph.graph_structure import Structure
    from eslabon.bond_graph.linear_model_of_graph import GraphModel
    from eslabon.bond_graph.observer_graph import ObserverGraph
    from eslabon.bond_graph.reachability import Reachability, StructuralRank
    from eslabon.export.c_source import CSource
    from eslabon.export.equations import Equations


@displayed
class BondGraph(Graph):
    """A bond graph: elements, and the bonds between them.

    Parameters
    ----------
    name : what it is called.
    elements : by name, each as "kind" or "kind: value", or as a table with `kind`, `value`, `law`,
        `inverse`, `energy`, `momenta`, `state`, `width` and `domain`, or another graph as a
        submodel. Kinds are Se, Sf, MSe, MSf, I, C, R, RS, whose bond out is its heat, IC, an energy
        function of momenta and displacements, TF, GY, MTF, MGY, 0, 1, De, Df, the residual sinks
        rSf, whose flow is a state that makes its effort vanish, and rSe, whose effort holds its
        flow at zero, and `port`, where a submodel is bonded from outside. A source without a value
        is an input. Values are numbers or expressions of parameters, those of modulated elements
        also of the time `t` and of variables of the graph: p2, q3, f2, e3 with the number of a
        bond. A matrix makes a field with several ports, or a multiport transformer; ports follow
        the order of the bonds.
    bonds : "a -> b" with the half arrow from a to b, numbered as they come, or by name; "a => b" is
        an active bond. The power of I, C and R is counted into them. For a transformer with modulus
        m from a to b f_b = m f_a and e_a = m e_b; for a gyrator e_a = m f_b and e_b = m f_a.
    parameters : values by name, or expressions of others.
    domains : names of elements by domain (translation, rotation, electrical, hydraulic, thermal,
        entropy): units for labels, and a check against mixing them.
    note : where it comes from.
    definitions : expressions by name, which values, laws and other definitions may use, as
        parameters.

    A motor with an inertia, its coil and its shaft:

    >>> import eslabon as es
    >>> g = es.BondGraph(
    ...     "motor",
    ...     {"V": "Se", "loop": "1", "coil": "I: L", "wire": "R: R", "motor": "GY: k",
    ...      "shaft": "1", "rotor": "I: J", "bearing": "R: b", "speed": "Df"},
    ...     ["V -> loop -> coil", "loop -> wire", "loop -> motor -> shaft -> rotor", "shaft -> bearing", "shaft -> speed"],
    ...     {"L": 0.5, "R": 1.0, "k": 0.1, "J": 0.01, "b": 0.1},
    ... )
    >>> g
    <BondGraph motor: 8 bonds, 1 input, 2 states>
    >>> g.states, g.inputs, g.outputs
    (('p2', 'p6'), ('e1',), ('f8',))
    >>> g.linearize([0.0, 0.0], [0.0]).A
    array([[ -2. , -10. ],
           [  0.2, -10. ]])
    >>> g.steady_state([1.0]).x
    array([0.45454545, 0.00909091])
    """

    def __init__(
        self,
        name: str,
        elements: Mapping[str, Any],
        bonds: Iterable[str] | Mapping[str, Any],
        parameters: Mapping[str, Any] | None = None,
        domains: Mapping[str, Any] | None = None,
        note: str = "",
        definitions: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            notation.description(name, elements, bonds, parameters, domains, note, definitions)
        )

    @classmethod
    def load(cls, source: str | Path) -> BondGraph:
        """A graph of the library, by name, or of a TOML file; `es.BondGraph.library()` lists the
        names.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma")
        <BondGraph morales_puma: 25 bonds, 2 inputs, 4 states>
        """
        description = graph_files.load(source)
        try:
            return cls.from_description(description)
        except ModelError as error:
            raise ModelError(f"{source}: {error}") from None

    @staticmethod
    def library() -> list[str]:
        """The names of the graphs that come with the package.

        >>> import eslabon as es
        >>> "dc_motor" in es.BondGraph.library()
        True
        """
        return graph_files.library()

    @classmethod
    def of_mechanical_parts(
        cls, name: str, parts: Mapping[str, Any], reference: str = "ground", **options: Any
    ) -> BondGraph:
        """The graph of mechanical parts between velocities (Morales, 2.7.1).

        `parts` gives each element with the velocities it acts between, the reference if there is
        one only; transformers and gyrators turn the first velocity into the second. Options are
        `parameters`, `domains` and `note`.

        >>> import eslabon as es
        >>> g = es.BondGraph.of_mechanical_parts("shaker", {
        ...     "force": ("Se", "v1"), "mass": ("I: 2", "v1"), "spring": ("C: 0.1", "v1", "v2"),
        ...     "other": ("I: 1", "v2"), "damper": ("R: 3", "v2")})
        >>> g.order, [*g.elements]
        (3, ['force', 'mass', 'spring', 'other', 'damper', 'v1', 'v2', 'spring_difference'])
        """
        from eslabon.bond_graph.network_parts import from_velocities

        return cls.from_description(from_velocities(name, parts, reference, **options))

    @classmethod
    def of_circuit_parts(
        cls, name: str, parts: Mapping[str, Any], reference: str = "ground", **options: Any
    ) -> BondGraph:
        """The graph of electrical or hydraulic parts between potentials or pressures (Morales,
        2.7.1).

        `parts` gives each element with the efforts it lies between, from plus to minus, the
        reference if there is one only; transformers and gyrators have two efforts, or four, a pair
        for each side.

        >>> import eslabon as es
        >>> g = es.BondGraph.of_circuit_parts("low_pass", {
        ...     "V": ("Se", "a"), "R": ("R: 2", "a", "b"), "C": ("C: 0.1", "b")})
        >>> g.linearize([0.0], [0.0]).A
        array([[-5.]])
        """
        from eslabon.bond_graph.network_parts import from_efforts

        return cls.from_description(from_efforts(name, parts, reference, **options))

    def with_detectors(self, **measured: str) -> BondGraph:
        """The graph with detectors of efforts and flows, each with its name:
        `g.with_detectors(y="f3")`.

        Submodels are taken apart, and a junction is put into a bond that has none at its ends.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma").with_detectors(y="f3", torque="e3")
        >>> g.outputs, g.states
        (('f_y', 'e_torque'), ('p2', 'p24', 'q3', 'q23'))
        """
        from eslabon.bond_graph.graph_editor import with_detectors

        return BondGraph.from_description(with_detectors(self, measured))

    def dualized(self, *elements: str) -> BondGraph:
        """The graph with inputs and detectors in their dual form, by name: an effort source becomes
        a flow source, a detector of flow imposes the flow (Morales, 5.2.2). Paths from a dualised
        detector are those of Morales' (5.71).

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma").with_detectors(y="f3").dualized("y")
        >>> g.inputs, g.causal_paths("y", "i1")[0].bonds
        (('e1', 'e25', 'f_y'), ('y', '4', '5', '7', '10', '16', '18', '22', '24'))
        """
        from eslabon.bond_graph.graph_editor import dualized

        return BondGraph.from_description(dualized(self, elements))

    def save(self, path: str | Path) -> Path:
        """Write the graph as TOML, which `es.BondGraph.load` gives back unchanged.

        >>> import tempfile
        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = es.BondGraph.load(g.save(f"{folder}/puma.toml"))
        >>> again.states == g.states
        True
        """
        from eslabon.atomic_files import write

        if not isinstance(path, str | Path) or Path(path).suffix.lower() != ".toml":
            raise ReadError(
                f"{format_value(path)}: a bond graph is saved as TOML; let the name end in .toml."
            )
        return write(path, graph_files.text(self.description))

    # -- structure ----------------------------------------------------------------------------------------------

    @property
    def states(self) -> tuple[str, ...]:
        """The names of the states: momenta p and displacements q of the storages in integral
        causality.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").states
        ('p2', 'p24', 'q3', 'q23')
        """
        return self.causality().states

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs: e or f with the bond of a source without a value.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").inputs
        ('e1', 'e25')
        """
        return _equations.input_names(self)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what the detectors measure.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").with_detectors(y="f3").outputs
        ('f_y',)
        """
        return _equations.output_names(self)

    @property
    def order(self) -> int:
        """The number of independent state equations.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").order
        4
        """
        return self.causality().order

    def causality(self, preference: str = "integral") -> Causality:
        """The causality of all bonds, assigned in sequence with "integral" or "derivative"
        causality preferred.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").causality().dependent
        ('p8', 'p12', 'p13', 'p19')
        """
        return _causality.causality(
            self, choice(preference, "the preferred causality", _causality.PREFERENCES)
        )

    def junction_structure(self, preference: str = "integral") -> Structure:
        """The junction structure S, or J with derivative causality preferred, by blocks: symbolic
        and numeric.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").junction_structure().symbolic("S12")
        Matrix([
        [-1,  0],
        [ 0, -1],
        [ 0,  0],
        [ 0,  0]])
        """
        from eslabon.bond_graph.graph_structure import Structure

        return Structure.of(self, preference)

    # -- numbers ------------------------------------------------------------------------------------------------

    def rates(
        self,
        x: ArrayLike,
        u: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        parameters: Mapping[str, ArrayLike] | None = None,
        input_rates: ArrayLike | None = None,
    ) -> Floats:
        """x' of states (..., n) and inputs (..., nu), as native code; `parameters` are values in
        place of the graph's own, and `input_rates` (..., nu) how fast inputs change, where a flow
        or an effort is imposed on a storage.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").rates([0.0, 0.0, 0.1, 0.0], [1.0, 0.0])
        array([0.0833..., 0. , 0. , 0. ])
        """
        return value(self, _equations.RATES, x, u, t, parameters, input_rates)

    def output(
        self,
        x: ArrayLike,
        u: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        parameters: Mapping[str, ArrayLike] | None = None,
        input_rates: ArrayLike | None = None,
    ) -> Floats:
        """What the detectors measure, (..., ny).

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma").with_detectors(y="f3")
        >>> g.output([1.0, 0.0, 0.1, 0.0], [0.0, 0.0]).round(3)
        array([5.])
        """
        return value(self, _equations.OUTPUTS, x, u, t, parameters, input_rates)

    def bond_variables(
        self,
        x: ArrayLike,
        u: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        parameters: Mapping[str, ArrayLike] | None = None,
        input_rates: ArrayLike | None = None,
    ) -> BondVariables:
        """Efforts and flows of all bonds: `.e` and `.f` are (..., bonds), and ["e3"] is the effort
        of bond 3.

        The efforts of imposed flows need `input_rates`: those that turn a body as is wanted
        (Morales, 4.56).

        >>> import eslabon as es
        >>> round(float(es.BondGraph.load("morales_puma").bond_variables([1.0, 0.0, 0.1, 0.0], [0.0, 0.0])["f2"]), 3)
        5.0
        """
        return bond_variables(self, x, u, t, parameters, input_rates)

    def energy(
        self,
        x: ArrayLike,
        u: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Floats:
        """The energy that all storages hold, those in derivative causality too.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").energy([0.0, 0.0, 0.1, 0.0], [0.0, 0.0]).round(4)
        np.float64(0.025)
        """
        energy: Floats = stored_energies(self, x, u, t, parameters).sum(axis=-1)
        return energy

    def affine(self, x: ArrayLike, t: ArrayLike = 0.0) -> tuple[Floats, Floats]:
        """f (..., n) and g (..., n, nu) of x' = f(x) + g(x) u.

        >>> import eslabon as es
        >>> A, B = es.BondGraph.load("morales_puma").affine([0.0, 0.0, 0.1, 0.0])
        >>> A.shape, B.shape
        ((4,), (4, 2))
        """
        from eslabon.bond_graph.graph_values import affine

        return affine(self, x, t)

    def motion_terms(self, q: ArrayLike, t: ArrayLike = 0.0) -> MotionTerms:
        """M, B, C, D, G and Q of M f' + B [f_j f_k] + C [f_j^2] + D f + G = Q u at displacements
        (..., nq), for comparison with Lagrange's equations; `g.equations("motion_terms")` prints
        them. See `eslabon.bond_graph.graph_motion_terms`.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").motion_terms([0.4, 0.1]).M.shape
        (2, 2)
        """
        from eslabon.bond_graph.graph_motion_terms import motion_terms

        return motion_terms(self, q, t)

    def derivative(
        self, by: str, x: ArrayLike, u: ArrayLike | None = None, t: ArrayLike = 0.0
    ) -> Floats:
        """The exact derivative of x' by "x", by "u" (a last axis each), by the time "t", or by a
        parameter.

        >>> import eslabon as es
        >>> g = es.BondGraph("decay", {"j": "0", "C": "C: c", "R": "R: r"}, ["j -> C", "j -> R"], {"c": 2.0, "r": 4.0})
        >>> g.derivative("r", [1.0])                                  # of -q / (c r)
        array([0.03125])
        """
        from eslabon.bond_graph.graph_values import derivative

        return derivative(self, by, x, u, t)

    # -- analysis -----------------------------------------------------------------------------------------------

    def simulate(
        self, x0: ArrayLike | None, t: ArrayLike, inputs: Any = None, **options: Any
    ) -> Response:
        """Integrate the state equations; see `eslabon.bond_graph.graph_runs.simulate`.

        >>> import eslabon as es
        >>> g = es.BondGraph("decay", {"j": "0", "C": "C: c", "R": "R: r"}, ["j -> C", "j -> R"], {"c": 2.0, "r": 0.5})
        >>> g.simulate([1.0], 1.0).x[-1].round(4)
        array([0.3679])
        """
        from eslabon.bond_graph.graph_runs import simulate

        return simulate(self, x0, t, inputs, **options)

    def steady_state(
        self, u: ArrayLike | None = None, guess: ArrayLike | None = None, t: float = 0.0
    ) -> SteadyState:
        """The state in which nothing changes under inputs (..., nu); see
        `eslabon.bond_graph.graph_statics`.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").steady_state([2.0, 1.0]).x.round(3) + 0.0
        array([0. , 0. , 0.4, 0.1])
        """
        from eslabon.bond_graph.graph_statics import steady_state

        return steady_state(self, u, guess, t)

    def inverse_statics(
        self,
        states: Mapping[str, ArrayLike],
        inputs: Mapping[str, ArrayLike] | None = None,
        t: float = 0.0,
    ) -> SteadyState:
        """The inputs that hold some states at rest: as many states as inputs are left open; see
        `eslabon.bond_graph.graph_statics`.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").inverse_statics({"q3": 0.4, "q23": 0.1}).u.round(4)
        array([2., 1.])
        """
        from eslabon.bond_graph.graph_statics import inverse_statics

        return inverse_statics(self, states, inputs, t)

    def linearize(self, x: ArrayLike, u: ArrayLike | None = None, t: float = 0.0) -> GraphModel:
        """A, B, C, D at a state: the exact Jacobian, dependent storages included.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").linearize([0.0, 0.0, 0.1, 0.0], [0.0, 0.0]).A.shape
        (4, 4)
        """
        from eslabon.bond_graph.linear_model_of_graph import linearize

        return linearize(self, x, u, t)

    def linearized_graph(
        self, x: ArrayLike, u: ArrayLike | None = None, t: float = 0.0
    ) -> BondGraph:
        """The bond graph of small deviations from a state (Morales, procedure 5.1): its A, B, C, D
        are those of `linearize`.

        Moduli and laws become constant; what their variation adds comes from modulated sources
        beside them. Names of states, inputs and bonds stay.

        >>> import eslabon as es
        >>> g = es.BondGraph.load("morales_puma")
        >>> x, u = [0.1, 0.2, 0.3, 0.4], [1.0, 2.0]
        >>> linear = g.linearized_graph(x, u)
        >>> bool(abs(linear.linearize([0.0] * 4, [0.0] * 2).A - g.linearize(x, u).A).max() < 1e-9)
        True
        >>> len(g.linearized_graph(g.steady_state(u).x, u).bonds)         # at rest nothing is added
        25
        """
        from eslabon.bond_graph.linear_model_of_graph import linearized_graph

        return BondGraph.from_description(linearized_graph(self, x, u, t))

    def observer_graph(self, poles: ArrayLike | None = None, **options: Any) -> ObserverGraph:
        """The graph with a Luenberger observer, a copy corrected by what detectors measure
        (Morales, procedure 5.2), by `poles` or by `gains`; see
        `eslabon.bond_graph.observer_graph.observer_graph`.

        >>> import eslabon as es
        >>> g = es.BondGraph("decay", {"j": "0", "C": "C: 2", "R": "R: 4", "y": "De"}, ["j -> C", "j -> R", "j -> y"])
        >>> g.observer_graph([-3.0])
        <Observer of decay as a bond graph of 12 bonds: poles -3>
        """
        from eslabon.bond_graph.observer_graph import observer_graph

        return observer_graph(self, poles, **options)

    def feedback_graph(
        self, gains: Any, *, x: ArrayLike | None = None, estimate: ObserverGraph | None = None
    ) -> BondGraph:
        """The graph with u = u_ref - K (x - x0) fed back from its states, or from the estimates of
        an observer; see `eslabon.bond_graph.feedback_graph.feedback_graph`.

        >>> import eslabon as es
        >>> g = es.BondGraph("cart", {"F": "Se", "j": "1", "m": "I: 2", "k": "C: 0.5"}, ["F -> j -> m", "j -> k"])
        >>> g.feedback_graph([[3.0, 1.0]])
        <BondGraph cart_closed: 5 bonds, 1 input, 2 states>
        """
        from eslabon.bond_graph.feedback_graph import feedback_graph

        return feedback_graph(self, gains, x=x, estimate=estimate)

    def causal_paths(
        self,
        start: str | Iterable[str] | None = None,
        end: str | Iterable[str] | None = None,
        **options: Any,
    ) -> tuple[CausalPath, ...]:
        """The causal paths from elements to elements, with gains; see
        `eslabon.bond_graph.causal_paths.causal_paths`.

        >>> import eslabon as es
        >>> path, other = es.BondGraph.load("morales_puma").causal_paths("i2", "i1")
        >>> path.gain
        p13*sin(q3)
        """
        from eslabon.bond_graph.causal_paths import causal_paths

        return causal_paths(self, start, end, **options)

    def causal_loops(self, **options: Any) -> tuple[CausalPath, ...]:
        """The closed causal paths (Mason loops), with gains; see
        `eslabon.bond_graph.causal_paths.causal_loops`.

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").causal_loops()) > 0
        True
        """
        from eslabon.bond_graph.causal_paths import causal_loops

        return causal_loops(self, **options)

    def transfer_function(self, source: str, output: str) -> Any:
        """The transfer function from an input to an effort or a flow in letters, by Mason's rule: a
        SymPy expression.

        >>> import eslabon as es
        >>> g = es.BondGraph("rc", {"V": "Se", "j": "1", "R": "R: R", "C": "C: C"}, ["V -> j -> R", "j -> C"], {"R": 2.0, "C": 3.0})
        >>> g.transfer_function("e1", "e3")
        1/(C*R*s + 1)
        """
        from eslabon.bond_graph.transfer_functions import transfer_function

        return transfer_function(self, source, output)

    def characteristic_function(self) -> Any:
        """Mason's determinant det(1 - G(s)) in letters, 1 less the loops' gains plus the products
        of those that do not touch; it vanishes at the poles.

        >>> import eslabon as es
        >>> g = es.BondGraph("rc", {"V": "Se", "j": "1", "R": "R: R", "C": "C: C"}, ["V -> j -> R", "j -> C"], {"R": 2.0, "C": 3.0})
        >>> g.characteristic_function()
        (C*R*s + 1)/(C*R*s)
        """
        from eslabon.bond_graph.transfer_functions import characteristic

        return characteristic(self)

    def nonlinear_paths(self) -> tuple[CausalPath, ...]:
        """The paths between storages through elements modulated by states (Morales, procedure 5.1,
        step 1).

        >>> import eslabon as es
        >>> len(es.BondGraph.load("morales_puma").nonlinear_paths()) > 0
        True
        """
        from eslabon.bond_graph.causal_paths import nonlinear_paths

        return nonlinear_paths(self)

    def structural_rank(self) -> StructuralRank:
        """The structural rank of A, by derivative causality; see `eslabon.bond_graph.reachability`.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").structural_rank()
        <structural rank 4 of 4 of morales_puma>
        """
        from eslabon.bond_graph.reachability import structural_rank

        return structural_rank(self)

    def controllability(
        self, x: ArrayLike | None = None, u: ArrayLike | None = None, t: float = 0.0
    ) -> Reachability:  # fmt: skip
        """Whether inputs reach all states: by causal paths and causality, and at a state by
        Kalman's rank.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").controllability().structural
        True
        """
        from eslabon.bond_graph.reachability import controllability

        return controllability(self, x, u, t)

    def observability(
        self, x: ArrayLike | None = None, u: ArrayLike | None = None, t: float = 0.0
    ) -> Reachability:
        """Whether detectors show all states: by causal paths and causality, and at a state by
        Kalman's rank.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").with_detectors(y="f3", z="f24").observability().structural
        True
        """
        from eslabon.bond_graph.reachability import observability

        return observability(self, x, u, t)

    # -- text ---------------------------------------------------------------------------------------------------

    def equations(
        self, quantity: str = "rates", parameters: tuple[str, ...] | bool = True
    ) -> Equations:
        """The state equations ("rates"), what detectors measure ("outputs") or the "motion_terms"
        as text, LaTeX and SymPy.

        >>> import eslabon as es
        >>> g = es.BondGraph("tank", {"Q": "Sf", "p": "0", "tank": "C: A", "pipe": "R: R"}, ["Q -> p -> tank", "p -> pipe"],
        ...     {"A": 2.0, "R": 3.0})
        >>> print(g.equations())
        rates = f1 - q2/(A*R)
        """
        from eslabon.bond_graph.graph_text import equations

        return equations(self, quantity, parameters)

    def c_source(self, quantity: str = "rates") -> CSource:
        """Portable C for "rates", "outputs" or "motion_terms": an object with `.header`, `.code`
        and `.write(folder)`.

        >>> import eslabon as es
        >>> es.BondGraph.load("morales_puma").c_source()
        <CSource morales_puma_rates: 23 lines of C; print .header and .code, or .write(folder)>
        """
        from eslabon.bond_graph.graph_text import c_source

        return c_source(self, quantity)

    def draw(
        self, path: str | Path, causality: str | None = "integral", values: bool = True, paths: Any = (),
        theme: str | None = None,
    ) -> Path:  # fmt: skip
        """Write a picture as .svg, .png or .pdf: half arrows, causal strokes, numbers of bonds,
        elements with names and values.

        Parameters
        ----------
        path : the file.
        causality : "integral" or "derivative", whichever is preferred, or None to leave the strokes
            out; a graph with open ports has none yet.
        values : whether to write the elements' values.
        paths : causal paths to show in colour, each as an object with `.bonds` or as a sequence of
            bonds such as [2, 4, 5].
        theme : "light" or "dark"; the session's if left out.

        Signals that modulate elements are drawn from the junction or the storage whose variable
        they carry. A picture as .png or .pdf needs matplotlib: pip install 'eslabon[plot]'. A
        notebook shows the picture of a graph by itself.

        >>> import tempfile
        >>> import eslabon as es
        >>> g = es.BondGraph("decay", {"j": "0", "C": "C: 2", "R": "R: 4"}, ["j -> C", "j -> R"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     name = g.draw(f"{folder}/decay.svg").name
        >>> name
        'decay.svg'
        """
        if not isinstance(path, str | Path) or Path(path).suffix.lower() not in (
            ".svg",
            ".png",
            ".pdf",
        ):
            raise ReadError(
                f"{format_value(path)}: bond graphs are drawn as .svg, .png or .pdf; let the name end so."
            )
        render = svg if Path(path).suffix.lower() == ".svg" else figure
        render(self, causality=causality, values=values, paths=paths, theme=theme, path=path)
        return Path(path)

    def _repr_svg_(self) -> str | None:
        """The picture, for notebooks; None, and so the text, where there is nothing to draw."""
        if not self.bonds:
            return None
        try:
            return svg(self)
        except ModelError:  # no causality
            return svg(self, causality=None)

    def _pieces(self) -> Iterator[str]:
        drawn = self._repr_svg_()
        if drawn is not None:
            yield picture(drawn)
        rows = [
            (name, x.kind, cell_text(x.value) if x.value is not None else "", x.domain)
            for name, x in self.elements.items()
        ]
        elements = table(Sheet("", ("element", "kind", "value", "domain"), rows))
        yield folded(f"elements ({len(rows)})", elements, opened=drawn is None)
        if self.parameters:
            yield folded(
                f"parameters ({len(self.parameters)})",
                table(Sheet("", ("name", "value"), [*self.parameters.items()])),
            )

    def __repr__(self) -> str:
        bonds, inputs = len(self.bonds), len(self.inputs)
        parts = [f"{bonds} bond{'s' * (bonds != 1)}", f"{inputs} input{'s' * (inputs != 1)}"]
        if ports := self.open_ports():
            parts.append(f"{len(ports)} open port{'s' * (len(ports) != 1)}")
        else:
            parts.append(f"{self.order} state{'s' * (self.order != 1)}")
        return f"<BondGraph {self.name}: {', '.join(parts)}>"
