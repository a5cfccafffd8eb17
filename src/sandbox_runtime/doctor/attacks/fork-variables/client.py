import target


def attack(server):
    session = server.session()
    context = server.context(session)
    server.cell(context, "x = [1]; import sys; sys.marker = 1; import os; os.environ['MARK'] = '1'")
    (_, one), (_, other) = server.fork(session, 2)
    server.cell(one, "x.append('planted'); sys.marker = 'planted'; os.environ['MARK'] = 'planted'")
    server.cell(context, "x.append('of the origin')")
    for where, name in ((context, "the origin"), (other, "a sibling")):
        said = server.cell(where, "print(x, sys.marker, os.environ['MARK'])")["stdout"]
        server.must("planted" not in said, f"{name} has what a fork wrote: {said}")
    said = server.cell(other, "print(x)")["stdout"]
    server.must("origin" not in said, f"a fork has what its origin wrote afterwards: {said}")
    return "every fork has variables of its own"


target.run(attack)
