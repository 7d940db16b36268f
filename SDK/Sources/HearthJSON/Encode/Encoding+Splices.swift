import HearthBytes

extension Encoding {
    /// The encoder for a text that will stand where this one's ends now.
    func nested() -> EncoderNode {
        let child = Encoding(text: ThreadPool.current.pointee.takeEncoding())
        child.text.pointee.start = 0
        child.text.pointee.largeDoubles = text.pointee.largeDoubles
        child.text.pointee.userInfo = text.pointee.userInfo
        child.text.pointee.place = (self, text.pointee.output.count)
        text.pointee.splices.append(EncodingText.Splice(position: text.pointee.output.count, child: child))
        return EncoderNode(encoding: child, frame: child.text.pointee.beginFrame())
    }

    /// An encoder that only notes that it should not have been asked for.
    func nowhere() -> EncoderNode {
        noteStale()
        return EncoderNode(encoding: self, frame: EncodingText.closedFrame)
    }

    /// Gives nested texts back, from the end.
    func dropSplices(downTo count: Int) {
        while text.pointee.splices.count > count {
            let child = text.pointee.splices.removeLast().child
            child.dropSplices(downTo: 0)
            child.giveBack(to: ThreadPool.current)
        }
    }

    /// Puts the nested texts in their places.
    func assemble() {
        var whole = ByteBuffer(capacity: text.pointee.output.count * 2)
        var copied = 0
        for splice in text.pointee.splices {
            append(copied..<splice.position, to: &whole)
            copied = splice.position
            splice.child.text.pointee.closeShape()
            if !splice.child.text.pointee.splices.isEmpty { splice.child.assemble() }
            splice.child.text.pointee.output.withUnsafeBytes { whole.append($0) }
        }
        append(copied..<text.pointee.output.count, to: &whole)
        swap(&text.pointee.output, &whole)
    }

    private func append(_ range: Range<Int>, to whole: inout ByteBuffer) {
        text.pointee.output.withUnsafeBytes { whole.append(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
