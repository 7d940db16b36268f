"""Values and query results as a client of the live connection keeps them: what each push makes of them, and a digest of each state."""

import functools
import json

import database_model
from database_model import Node, index_value, key_order, lies_within

EMPTY = Node()
ORDERS = {'.key': '$key', '.value': '$value', '.priority': '$priority'}


@functools.lru_cache(maxsize=1 << 16)
def keys(path):
    return tuple(key for key in path.split('/') if key)


def placed(node, place, new):
    """A node with another one at a place, by the rules of the client libraries."""
    if not place:
        return new
    if node.leaf is not None:
        if new.is_empty:
            return node
        node = Node(priority=node.priority)
    key = place[0]
    old = node.children.get(key)
    child = placed(old or EMPTY, place[1:], new)
    if child is old:
        return node
    children = dict(node.children)
    if child.is_empty:
        children.pop(key, None)
    else:
        children[key] = child
    return Node(children=children, priority=node.priority) if children else EMPTY


def part(node, place):
    for key in place:
        node = node.children.get(key)
        if node is None:
            return EMPTY
    return node


def digest(node):
    """A number that differs for different values. Equal in all processes with the same PYTHONHASHSEED."""
    known = node.__dict__.get('digest')
    if known is None:
        own = hash((tagged(node.leaf), tagged(node.priority)))
        known = node.digest = own + sum(hash((key, digest(child))) for key, child in node.children.items()) & (1 << 60) - 1
    return known


def tagged(leaf):
    """A leaf that differs from those of other types: True is not 1. The hash of None differs between processes."""
    return 0 if leaf is None else (type(leaf) is bool, leaf)


def leaves(node):
    if node.leaf is not None:
        yield node.leaf
    for child in node.children.values():
        yield from leaves(child)


class Query:
    """A query of a listen: its object for the wire, and its evaluation by the model."""

    def __init__(self, order, start=None, end=None, limit=None, takes_last=False):
        self.wire, self.limit, self.takes_last = {'i': order}, limit, takes_last
        self.order = ORDERS.get(order, order)
        self.start, self.end = self.bound(start, 's', '[MAX_NAME]'), self.bound(end, 'e', '[MIN_NAME]')
        if limit:
            self.wire.update(l=limit, vf='r' if takes_last else 'l')
        self.text = json.dumps(self.wire)

    def bound(self, bound, side, outside):
        """Writes a bound (value, key or None, is_inclusive) as the client libraries do."""
        if bound is None:
            return None
        value, key, is_inclusive = bound
        self.wire[side + 'p'] = value
        if key is not None:
            self.wire[side + 'n'] = key
        elif not is_inclusive and self.order != '$key':
            self.wire[side + 'n'] = outside
        if not is_inclusive:
            self.wire[side + 'in'] = False
        return bound

    def result(self, node):
        """The children that the query selects in a node; its priority does not belong to the result."""
        found = database_model.query(node, self.order, self.start, self.end, self.limit, self.takes_last)
        return found if found is not None and found.children else EMPTY

    def includes(self, key, node):
        return not node.is_empty and lies_within(node, key, self.order, self.start, self.end)

    def sorting(self, key, node):
        return (index_value(node, key, self.order), key_order(key))


class WholeView:
    """The value of a place, for a listen without a query. Until a push has all of it, there is none."""

    def __init__(self, path):
        self.path, self.node, self.is_complete = path, EMPTY, False

    def apply(self, place, members):
        """Applies a push with nodes at paths below a place. Returns whether it concerns this view."""
        concerned = False
        for rest, node in members:
            full = place + rest
            depth = len(self.path)
            if full[:depth] == self.path:
                if len(full) == depth:
                    self.node, self.is_complete = node, True
                elif self.is_complete:
                    self.node = placed(self.node, full[depth:], node)
                concerned = True
            elif self.path[:len(full)] == full:
                self.node, self.is_complete = part(node, self.path[len(full):]), True
                concerned = True
        return concerned


class QueryView:
    """The result of a query, as the filters of the client libraries keep it."""

    def __init__(self, path, query):
        self.path, self.query, self.node, self.is_complete = path, query, EMPTY, False
        self.faults = []

    def apply(self, place, members):
        if place[:len(self.path)] != self.path:
            self.faults.append(f'a tagged push at /{"/".join(place)}, which is not below /{"/".join(self.path)}')
            return True
        before, raw = self.node, self.node
        news = []
        for rest, node in members:
            below = (place + rest)[len(self.path):]
            if not below:
                raw = Node(children=node.children) if node.children else EMPTY
                self.replace(raw)
                continue
            raw = placed(raw, below, node)
            news.append((below, node))
        # Those that the client has come first.
        for below, node in sorted(news, key=lambda member: member[0][0] not in before.children):
            self.change(below[0], placed(self.node.children.get(below[0], EMPTY), below[1:], node))
        self.is_complete = True
        if digest(self.node) != digest(raw):
            self.faults.append(f'{self.query.text} of /{"/".join(self.path)}: clients make {sorted(self.node.children)} of a push that '
                               f'means {sorted(raw.children)}, from {sorted(before.children)}: {place} {members and [m[0] for m in members]}')
        return True

    def replace(self, node):
        self.node = EMPTY
        for key in sorted(node.children, key=lambda key: self.query.sorting(key, node.children[key]), reverse=self.query.takes_last):
            if self.query.includes(key, node.children[key]) and len(self.node.children) != self.query.limit:
                self.node = placed(self.node, (key,), node.children[key])

    def change(self, key, child):
        """Changes one child, as the limited filter of the client libraries does."""
        if not self.query.includes(key, child):
            child = EMPTY
        held = self.node.children
        if key not in held and not child.is_empty and self.query.limit and len(held) >= self.query.limit:
            order = max if not self.query.takes_last else min
            boundary = order(held, key=lambda other: self.query.sorting(other, held[other]))
            mine, last = self.query.sorting(key, child), self.query.sorting(boundary, held[boundary])
            if mine > last if not self.query.takes_last else mine < last:
                return
            self.node = placed(self.node, (boundary,), EMPTY)
        self.node = placed(self.node, (key,), child)
