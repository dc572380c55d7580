"""What there is to see of a mechanism, whoever draws it: where bodies are, what joins them, and what they look like.

A scene is made once for a model, in the bodies' own frames; `body_poses` says where the bodies are in a configuration. A
drawing on paper, a view in the browser and a picture in a page are made from these two.

>>> from eslabon import load
>>> m = load("five_bar")
>>> s = scene_of(m)
>>> s.bodies, [(j.name, j.role) for j in s.joints][-2:]
(('ground', 'link2', 'link3', 'link5', 'link4'), [('theta4', 'joint'), ('tip', 'cut')])
>>> body_poses(m, m.home()).shape
(5, 4, 4)
"""

from eslabon.scene.arrows import Arrows, external_arrows, reaction_arrows
from eslabon.scene.marks import Link, Mark, SpringMark
from eslabon.scene.placing import body_poses, moved
from eslabon.scene.scene import Scene, scene_of
from eslabon.scene.solids import Part

__all__ = [
    "Arrows",
    "Link",
    "Mark",
    "Part",
    "Scene",
    "SpringMark",
    "body_poses",
    "external_arrows",
    "moved",
    "reaction_arrows",
    "scene_of",
]
