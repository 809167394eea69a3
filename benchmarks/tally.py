"""What a scanner got right and wrong."""

from dataclasses import dataclass, field


@dataclass
class Tally:
    tp: int = 0
    fn: int = 0
    fp: int = 0
    tn: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, vulnerable: bool, found: bool, name: str) -> None:
        if vulnerable:
            self.tp, self.fn = self.tp + found, self.fn + (not found)
        else:
            self.fp, self.tn = self.fp + found, self.tn + (not found)
        if vulnerable != found:
            self.wrong.append(("missed " if vulnerable else "false ") + name)

    @property
    def recall(self) -> float:
        return self.tp / max(self.tp + self.fn, 1)

    @property
    def alarms(self) -> float:
        return self.fp / max(self.fp + self.tn, 1)

    @property
    def youden(self) -> float:
        return self.recall - self.alarms
