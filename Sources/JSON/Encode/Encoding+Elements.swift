import Bytes

extension Encoding {
    /// Begins a member: comma, name, colon.
    @inline(__always)
    func key(_ key: some CodingKey, _ frame: Int) throws {
        guard frame == self.frame else { throw stale() }
        output.appendKey(key.stringValue, comma: needsComma)
        needsComma = true
    }

    /// Begins an element: the comma.
    @inline(__always)
    func element(_ frame: Int) throws {
        guard frame == self.frame else { throw stale() }
        if needsComma { output.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Begins the value that is all there is of a frame.
    @inline(__always)
    func single(_ frame: Int) throws {
        guard frame == self.frame, shape == .nothing else { throw stale() }
        shape = .scalar
    }

    @inline(never)
    private func stale() -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: path, debugDescription: "This container or encoder is not the one that is open."))
    }

    /// Runs `body`, which writes a member or element, and takes back what it wrote if it throws.
    @inline(__always)
    func attempt(_ body: () throws -> Void) throws {
        let before = (frame, shape, needsComma, output.count, splices.count)
        do {
            try body()
        } catch {
            output.truncate(to: before.3)
            dropSplices(downTo: before.4)
            (frame, shape, needsComma) = (before.0, before.1, before.2)
            throw error
        }
    }

    @inline(__always)
    func null() { output.append("null") }

    @inline(__always)
    func bool(_ value: Bool) {
        if value { output.append("true") } else { output.append("false") }
    }

    @inline(__always)
    func number(_ value: Double) throws {
        guard value.isFinite else { throw invalid(value, "JSON has no \(value).") }
        output.appendNumber(value)
    }

    @inline(__always)
    func number(_ value: Float) throws {
        guard value.isFinite else { throw invalid(value, "JSON has no \(value).") }
        output.appendNumber(value)
    }
}
