"""What a person sees of a result. The package installs the presenter; no wing below imports this
one."""

from __future__ import annotations

from eslabon.answers import Answer


class LazyPresenter:
    """The presenter of notebooks; it is loaded, with the pages it needs, when something is first
    shown."""

    def html(self, answer: Answer, /) -> str | None:
        from eslabon.show.presenter import notebook_html

        return notebook_html(answer)
