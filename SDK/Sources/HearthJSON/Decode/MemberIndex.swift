/// Where the members of one large object stand, by name: an open-addressing table of tape positions.
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
                // Of equal names the last one counts.
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
