"""Mechanisms drawn with matplotlib, and their motions as animations.

`draw` makes a figure of one configuration or of many: in their plane, with the symbols that textbooks have, for mechanisms that
move in one, else as shaded solids in space. `animation` makes a video, a GIF or a page. What there is to draw comes from
`eslabon.scene`, colours and letters from `eslabon.plotting`; this room puts the one onto the other.
"""
