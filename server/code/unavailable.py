"""The one exception of this package that reaches an operator: code can't be run here, why, and what to do."""


class Unavailable(Exception):
    """`lasting`: it is a property of this machine, which a second try would not change, and is worth remembering."""

    def __init__(self, why: str, hint: str = "", *, lasting: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint
        self.lasting = lasting
