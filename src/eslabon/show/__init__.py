"""What a person sees of a result. The package installs the presenter; no wing below imports this
one."""

from __future__ import annotations

from typing import Any


class LazyPresenter:
    """The presenter of notebooks; it is loaded, with the pages it needs, when something is first
    shown."""

    def html(self, answer: object, /) -> str | None:
        from eslabon.show.presenter import notebook_html

        return notebook_html(answer)

    def figure(self, answer: object, /, **options: Any) -> Any:
        from eslabon.show.plots.registered_figures import figure

        return figure(answer, **options)

    def animation(self, answer: object, /, **options: Any) -> Any:
        from eslabon.show.plots.registered_figures import animation

        return animation(answer, **options)

    def svg(self, answer: object, /, **options: Any) -> str:
        from eslabon.show.plots.registered_figures import svg

        return svg(answer, **options)
