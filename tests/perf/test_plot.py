"""The picture of a run: well-formed, complete, and true to the figures."""

from __future__ import annotations

from xml.etree import ElementTree

from sandbox_runtime.perf.plot import draw
from sandbox_runtime.perf.statistics import Timing
from sandbox_runtime.perf.targets import Kind, PerfTarget

MACHINE = {"cores_allowed": 2, "processor": "Fast & <small>", "architecture": "x86_64"}
TARGETS = (
    PerfTarget("warm", "warm run", Kind.faster, 10, 30, "ours", "theirs"),
    PerfTarget("rate", "throughput", Kind.more, 5, 10, "ours", "theirs"),
    PerfTarget("absent", "not measured", Kind.faster, 5, 10, "ours", "nobody"),
)


def test_each_measured_comparison_has_two_bars_in_the_ratio_of_their_medians() -> None:
    timings = {"ours": Timing("ours", "engine", (0.002, 0.002, 0.5)), "theirs": Timing("theirs", "bwrap", (0.02,))}
    picture = ElementTree.fromstring(draw(timings, MACHINE, TARGETS))
    rects = [rect for rect in picture.iter("{http://www.w3.org/2000/svg}rect")][1:]
    assert len(rects) == 2
    ours, theirs = (float(rect.get("width", "0")) for rect in rects)
    assert abs(theirs / ours - 10) < 0.1
    texts = [text.text or "" for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert "warm run: 10.0 times as fast" in texts and any("2 cores, Fast & <small>" in text for text in texts)
    assert not any("not measured" in text or "throughput" in text for text in texts)


def test_without_figures_there_is_an_empty_picture() -> None:
    assert len(ElementTree.fromstring(draw({}, MACHINE)).findall("{http://www.w3.org/2000/svg}rect")) == 1
