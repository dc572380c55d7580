"""Systems theory of mechanisms: linear models, identification, control and observers.

`linear` finds equilibria and linear models and analyses them, `identification` estimates
parameters from recordings, `control` designs laws and observers. Public as `es.linear`,
`es.identification` and `es.control`.
"""
