import Bytes

extension Encoding {
    /// The text of a nested container or super encoder, and the position in its parent's text where it belongs.
    struct Splice {
        let position: Int
        let child: Encoding
    }

    /// An encoding whose text will stand where this one's ends now.
    func nested() -> Encoding {
        let child = Encoding()
        child.userInfo = userInfo
        child.place = (self, output.count)
        splices.append(Splice(position: output.count, child: child))
        return child
    }

    /// An encoding whose text nobody will read, for a call that cannot throw.
    func detached() -> Encoding {
        let child = Encoding()
        child.userInfo = userInfo
        return child
    }

    /// Forgets nested texts from the end, and what holds them and this to each other.
    func dropSplices(downTo count: Int) {
        while splices.count > count {
            let child = splices.removeLast().child
            child.place = nil
            child.dropSplices(downTo: 0)
            child.frame = Self.closedFrame
        }
    }

    /// Puts the nested texts in their places.
    func assemble() {
        var whole = ByteBuffer(capacity: output.count * 2)
        var copied = 0
        for splice in splices {
            append(copied..<splice.position, to: &whole)
            copied = splice.position
            splice.child.closeShape()
            if !splice.child.splices.isEmpty { splice.child.assemble() }
            splice.child.output.withUnsafeBytes { whole.append($0) }
        }
        append(copied..<output.count, to: &whole)
        swap(&output, &whole)
    }

    private func append(_ range: Range<Int>, to whole: inout ByteBuffer) {
        output.withUnsafeBytes { whole.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
