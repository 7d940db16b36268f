extension Document {
    @inline(__always)
    func keyText(_ index: Int) -> KeyText {
        let token = token(index)
        return KeyText(base + Int(token.start), count: token.length, hasEscapes: token.isFlagged)
    }

    /// The tape position of the value that the object at `object` has under `name`, or -1. The last one of equal names counts.
    @inline(__always)
    func find(_ name: String, in object: Int) -> Int {
        var name = name
        return name.withUTF8 { find($0, in: object) }
    }

    func find(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int {
        let container = token(object)
        guard container.extent < MemberIndex.membersMin else { return findIndexed(name, in: object) }
        var found = -1
        var key = object + 1
        let end = Int(container.next)
        while key < end {
            if keyText(key).equals(name) { found = key + 1 }
            key = Int(token(key + 1).next)
        }
        return found
    }

    @inline(never)
    private func findIndexed(_ name: UnsafeBufferPointer<UInt8>, in object: Int) -> Int {
        let number = token(object).memberIndex
        if number > 0 { return storage.pointee.memberIndexes[number - 1].value(name, self) }
        let index = MemberIndex(self, object: object)
        // An entry has room for a number of 23 bits. A text of half a gigabyte can hold more large objects than that.
        if storage.pointee.memberIndexes.count < Token.memberIndexMax {
            storage.pointee.memberIndexes.append(index)
            storage.pointee.tape.tokens[object].memberIndex = storage.pointee.memberIndexes.count
        }
        return index.value(name, self)
    }

    /// The names of an object's members, each once, as keys of a type that may not have them all.
    func keys<Key: CodingKey>(_ type: Key.Type, of object: Int) -> [Key] {
        let container = token(object)
        var keys: [Key] = []
        keys.reserveCapacity(Int(container.extent))
        var index = object + 1
        let end = Int(container.next)
        while index < end {
            let text = keyText(index)
            // The last one of equal names counts.
            if text.withDecoded({ find($0, in: object) }) == index + 1, let key = Key(stringValue: text.string) { keys.append(key) }
            index = Int(token(index + 1).next)
        }
        return keys
    }
}

/// The positions of the members of one large object, by name: an open-addressing table of tape positions.
///
/// Names are hashed with the seed of the process, so a text cannot be made so that they collide.
struct MemberIndex {
    /// Objects with fewer members are searched one by one.
    static let membersMin: UInt32 = 12

    /// The positions of keys on the tape; 0, which is never a key, where free.
    private var slots: [UInt32]
    private var mask: Int { slots.count - 1 }

    init(_ document: Document, object: Int) {
        let members = Int(document.token(object).extent)
        var size = 32
        while size < members * 2 { size *= 2 }
        slots = Array(repeating: 0, count: size)
        var key = object + 1
        let end = Int(document.token(object).next)
        while key < end {
            document.keyText(key).withDecoded { name in
                // The last one of equal names counts.
                slots[slot(of: name, document)] = UInt32(truncatingIfNeeded: key)
            }
            key = Int(document.token(key + 1).next)
        }
    }

    /// The tape position of the member's value, or -1.
    func value(_ name: UnsafeBufferPointer<UInt8>, _ document: Document) -> Int {
        let key = slots[slot(of: name, document)]
        return key == 0 ? -1 : Int(key) + 1
    }

    /// The slot that holds `name`, or the free one where it belongs.
    private func slot(of name: UnsafeBufferPointer<UInt8>, _ document: Document) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(name))
        var slot = hasher.finalize() & mask
        while slots[slot] != 0, !document.keyText(Int(slots[slot])).equals(name) { slot = (slot + 1) & mask }
        return slot
    }
}
