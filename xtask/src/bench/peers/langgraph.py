"""Measures LangGraph on the workloads of the folder of peers.

In: nothing; `workloads.py` and `common.py` lie beside this file. Out: a JSON line for each workload, the cheap ones
first, so that whoever cuts it off has those. Medians of wall time and of processor time of all threads, after a run
that is not counted unless it is slow. Start reading at ROWS.
"""

import asyncio
import json
import os
import sqlite3
import statistics
import tempfile
import time
import warnings

warnings.filterwarnings("ignore")
os.environ["LANGSMITH_TRACING"] = "false"
import uvloop
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver

import workloads
from common import async_run, sync_run

TRIES = 3
# What takes more seconds than this is run once, and that counts: warming up makes no difference to it.
SLOW = 4
LOOP = uvloop.new_event_loop()
SUBJECTS = workloads.fanout_input(100)
WIDE, OUTER, INNER = workloads.WIDE_SIZES["15x600"]

# name, how many nodes run, the graph for a store and a mode, its input
CHAIN = ("chain 1000", 1000, lambda store, late: workloads.chain(1000, late).compile(store), {"messages": []})
FAN = ("fan-out 1000", 1001, lambda store, late: workloads.fanout_static(1000, late).compile(store), {"n": 1000})
LOOPS = [
    (f"loop {n}", n, lambda store, late, n=n: workloads.loop(n, late).compile(store), {"i": 0}) for n in (1000, 10000)
]
REACT = ("react_agent_100x", 201, lambda store, late: workloads.react(100, store), {"messages": [HumanMessage("hi?")]})
JOKES = ("fanout_to_subgraph_100x", 1300, lambda store, late: workloads.fanout_subgraph(late).compile(store), SUBJECTS)
DICT = (
    "wide_dict_15x600",
    42,
    lambda store, late: workloads.wide(WIDE, "dict").compile(store),
    workloads.wide_input(OUTER, INNER),
)

# work, where it is kept, whether its nodes are coroutines
ROWS = [
    (CHAIN, "none", False),
    (CHAIN, "none", True),
    (FAN, "none", False),
    (FAN, "none", True),
    (LOOPS[1], "none", False),
    (CHAIN, "sqlite", False),
    (FAN, "sqlite", False),
    (LOOPS[0], "sqlite", False),
    (REACT, "sqlite", False),
    (JOKES, "sqlite", False),
    (DICT, "sqlite", False),
]


def once(graph, given, late):
    """One run, with a checkpoint after each step if there is a store."""
    if late:
        LOOP.run_until_complete(async_run(graph, given, "sync"))
    else:
        sync_run(graph, given, "sync")


def measure(run):
    first = timed(run)
    if first[0] > SLOW:
        return first
    walls, cpus = zip(*(timed(run) for _ in range(TRIES)))
    return statistics.median(walls), statistics.median(cpus)


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def row(work, store, late):
    name, nodes, make, given = work
    with tempfile.TemporaryDirectory() as folder:
        file = sqlite3.connect(os.path.join(folder, "store.db"), check_same_thread=False) if store == "sqlite" else None
        graph = make(SqliteSaver(file) if file else None, late)
        wall, cpu = measure(lambda: once(graph, given, late))
        if file:
            file.close()
    print(
        json.dumps({"scenario": name, "store": store, "nodes": nodes, "wallMs": wall * 1e3, "cpuMs": cpu * 1e3}),
        flush=True,
    )


asyncio.set_event_loop(LOOP)
for each in ROWS:
    row(*each)
