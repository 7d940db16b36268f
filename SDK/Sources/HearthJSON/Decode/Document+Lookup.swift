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
            // Of equal names the last one counts.
            if text.withDecoded({ find($0, in: object) }) == index + 1, let key = Key(stringValue: text.string) { keys.append(key) }
            index = Int(token(index + 1).next)
        }
        return keys
    }
}
