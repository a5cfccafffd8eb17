import gc
import weakref


class Node:
    pass


node = Node()
node.self = node
gone = weakref.ref(node)
del node
print(gc.collect() >= 1, gone(), gc.get_count()[0] < 1000)
print(gc.get_objects(generation=0) is not None, gc.isenabled())
gc.set_debug(gc.DEBUG_SAVEALL)
node = Node()
node.self = node
del node
gc.collect()
print(len(gc.garbage))
