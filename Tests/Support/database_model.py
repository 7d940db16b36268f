"""A model of the specified database, as simple as possible, for comparison with a real one."""

import base64
import functools
import hashlib
import re
import struct

INTEGER = re.compile(r'-?0*\d{1,10}')
INDEX = re.compile(r'0|[1-9][0-9]*')


class Node:
    """A leaf, or children, with an optional priority. Empty nodes are not stored."""

    def __init__(self, leaf=None, children=None, priority=None):
        self.leaf, self.children, self.priority = leaf, children or {}, priority

    @property
    def is_empty(self):
        return self.leaf is None and not self.children

    def copy(self):
        return Node(self.leaf, {key: child.copy() for key, child in self.children.items()}, self.priority)


def parse(value):
    """Converts a request's JSON value to a node."""
    priority = None
    if isinstance(value, dict):
        priority = value.get('.priority')
        if '.value' in value:
            value = value['.value']
        else:
            value = {key: member for key, member in value.items() if key != '.priority'}
    elif isinstance(value, list):
        value = {str(index): member for index, member in enumerate(value)}
    if value is None:
        return Node()
    if not isinstance(value, dict):
        return Node(leaf=value, priority=priority)
    children = {key: node for key, member in value.items() if not (node := parse(member)).is_empty}
    return Node(children=children, priority=priority) if children else Node()


class Model:
    """The data of one namespace."""

    def __init__(self):
        self.root = Node()

    def at(self, path):
        node = self.root
        for key in path:
            node = node.children.get(key)
            if node is None:
                return Node()
        return node

    def set(self, path, node):
        self.root = self._with(self.root, path, node)

    def _with(self, node, path, new):
        if not path:
            return new
        if node.leaf is not None:
            # Deleting below a leaf does nothing. Any other write below it replaces the leaf by children, and keeps its priority.
            if new.is_empty:
                return node
            node = Node(priority=node.priority)
        child = self._with(node.children.get(path[0], Node()), path[1:], new)
        children = {**node.children, path[0]: child}
        if child.is_empty:
            del children[path[0]]
        return Node(children=children, priority=node.priority) if children else Node()

    def set_priority(self, path, priority):
        node = self.at(path)
        if not node.is_empty:
            node = node.copy()
            node.priority = priority
            self.set(path, node)

    def increment(self, path, delta):
        old = self.at(path).leaf
        is_number = isinstance(old, (int, float)) and not isinstance(old, bool)
        total = old + delta if is_number else delta
        if isinstance(total, int) and not -2 ** 63 <= total < 2 ** 63:
            total = float(total)
        self.set(path, Node(leaf=total))


# -- how it is shown

def value_of(node):
    if not node.children:
        return node.leaf
    if all(INDEX.fullmatch(key) and int(key) < 2 * len(node.children) for key in node.children):
        slots = max(map(int, node.children)) + 1
        return [value_of(node.children.get(str(index), Node())) for index in range(slots)]
    return {key: value_of(child) for key, child in node.children.items()}


def export_of(node):
    if node.priority is None:
        return node.leaf if not node.children else {key: export_of(child) for key, child in node.children.items()}
    if not node.children:
        return {'.value': node.leaf, '.priority': node.priority}
    return {**{key: export_of(child) for key, child in node.children.items()}, '.priority': node.priority}


def shallow_of(node, limit=None, start_after=None):
    if not node.children:
        return node.leaf
    keys = sorted(node.children, key=key_order)
    if start_after is not None:
        keys = [key for key in keys if key_order(key) > key_order(start_after)]
    return {key: True for key in keys[:limit]}


def hash_of(node):
    if node.is_empty:
        return ''
    text = '' if node.priority is None else f'priority:{leaf_text(node.priority)}:'
    if node.leaf is not None:
        text += leaf_text(node.leaf)
    else:
        order = sorted(node.children, key=lambda key: (value_order(node.children[key].priority), key_order(key)))
        text += ''.join(f':{key}:{hash_of(node.children[key])}' for key in order)
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def leaf_text(leaf):
    if isinstance(leaf, bool):
        return f'boolean:{str(leaf).lower()}'
    return f'string:{leaf}' if isinstance(leaf, str) else f'number:{struct.pack(">d", float(leaf)).hex()}'


# -- orders and queries

@functools.lru_cache(maxsize=1 << 16)
def key_order(key):
    if INTEGER.fullmatch(key) and -2 ** 31 <= int(key) < 2 ** 31:
        return (0, int(key), len(key), key)
    return (1, units(key))


def units(text):
    """The text in UTF-16, which sorts as in JavaScript."""
    return text.encode('utf-16-be')


def value_order(value):
    if value is None:
        return (1,)
    if isinstance(value, bool):
        return (3,) if value else (2,)
    if isinstance(value, (int, float)):
        return (4, float(value))
    return (5, units(value)) if isinstance(value, str) else (6,)


def query(node, order, start=None, end=None, limit=None, takes_last=False):
    """The result of a query on a node; None for a leaf or an absent node. Bounds are (value, key, is_inclusive)."""
    if not node.children:
        return None
    keys = sorted(node.children, key=lambda key: (index_value(node.children[key], key, order), key_order(key)))
    keys = [key for key in keys if lies_within(node.children[key], key, order, start, end)]
    if limit is not None:
        keys = keys[-limit:] if takes_last else keys[:limit]
    return Node(children={key: node.children[key] for key in keys})


def index_value(child, key, order):
    if order == '$key':
        return key_order(key)
    if order == '$priority':
        return value_order(child.priority)
    for part in [] if order == '$value' else order.split('/'):
        child = child.children.get(part, Node())
    return (6,) if child.children else value_order(child.leaf)


def lies_within(child, key, order, start, end):
    place = functools.partial(compare, index_value(child, key, order), key, order)
    above = start is None or (side := place(start, -1)) > 0 or side == 0 and start[2]
    below = end is None or (side := place(end, 1)) < 0 or side == 0 and end[2]
    return above and below


def compare(value, key, order, bound, end):
    """Compares a child with a bound. A start without a key comes before all children with its value if it is inclusive, otherwise after them.
    An end without a key comes after them if it is inclusive, otherwise before them."""
    wanted, bound_key, is_inclusive = bound
    wanted = key_order(wanted) if order == '$key' else value_order(wanted)
    if value != wanted:
        return 1 if value > wanted else -1
    if order == '$key':
        return 0
    if bound_key is None:
        return -end if is_inclusive else end
    mine, other = key_order(key), key_order(bound_key)
    return (mine > other) - (mine < other)
