"""Measures this deployment on this machine, beside what it is compared with, in one run.

Contract: suite.measure(settings, effort, …) runs the sections asked for and returns a Report of plain figures; it prints nothing
and judges nothing but the goals in targets.py. All contenders of a section take turns, so that whatever else the machine does
hits them alike; ratios are what count. Servers and load generators are processes of their own, started and ended here. A
section that cannot be measured here is skipped with its reason; one that breaks is told as failed and does not stop the others.
"""
