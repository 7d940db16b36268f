import HearthBytes

extension JSONSplitter {
    // MARK: Keys

    mutating func key(_ first: UInt8) throws(JSONSplitError) -> Step {
        guard first == UInt8(ascii: "\"") else { throw error("a key in quotes is missing here") }
        guard let (range, isPlain) = try scanString() else { return .starved }
        let member = try member(range, isPlain: isPlain)
        let top = stack.count - 1
        if top > 0, stack[top - 1].member == .priority, member != .serverValue { throw error(Self.priorityRule) }
        stack[top].member = member
        if member == .value { stack[top].hasValue = true }
        if member == .ordinary { stack[top].hasOthers = true }
        if stack[top].hasValue, stack[top].hasOthers { throw error("\".value\" cannot be combined with other members") }
        if stack[top].isSplit {
            if member == .serverValue { throw error("\".sv\" cannot be combined with other members") }
            if collects { setMember(of: stack[top], to: text((range.lowerBound + 1)..<(range.upperBound - 1))) }
        }
        position = range.upperBound
        expectation = .colon
        return .again
    }

    /// Classifies a key in place: most keys have no escapes.
    private func member(_ range: Range<Int>, isPlain: Bool) throws(JSONSplitError) -> Member {
        let verdict: KeyVerdict
        if isPlain {
            let inside = (range.lowerBound + 1 - windowStart)..<(range.upperBound - 1 - windowStart)
            verdict = window.withUnsafeBytes { KeyVerdict(UnsafeRawBufferPointer(rebasing: $0[inside]), bytesMax: limits.keyBytesMax) }
        } else {
            verdict = content(range, isPlain: false).withUnsafeBytes { KeyVerdict($0, bytesMax: limits.keyBytesMax) }
        }
        switch verdict {
        case .member(let member): return member
        case .tooLong: throw error("a key is longer than \(limits.keyBytesMax) bytes")
        case .illegal: throw error("a key cannot be empty or contain $ # [ ] / . or control characters")
        }
    }

    private enum KeyVerdict {
        case member(Member), tooLong, illegal

        init(_ name: UnsafeRawBufferPointer, bytesMax: Int) {
            if name.first == UInt8(ascii: ".") {
                if name.elementsEqual(".value".utf8) {
                    self = .member(.value)
                } else if name.elementsEqual(".priority".utf8) {
                    self = .member(.priority)
                } else {
                    self = name.elementsEqual(".sv".utf8) ? .member(.serverValue) : .illegal
                }
                return
            }
            self = name.isEmpty ? .illegal : name.count > bytesMax ? .tooLong : .member(.ordinary)
            for byte in name {
                switch byte {
                case 0..<0x20, 0x7F, UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"), UInt8(ascii: "["), UInt8(ascii: "]"),
                    UInt8(ascii: "/"):
                    self = .illegal
                default: break
                }
            }
        }
    }

    private mutating func setMember(of frame: Frame, to text: [UInt8]) {
        path.removeLast(path.count - frame.pathCount)
        if !path.isEmpty { path.append(UInt8(ascii: "/")) }
        path += text
    }

    // MARK: Values

    static let priorityRule = "a priority must be a string or a number"

    mutating func value(_ first: UInt8) throws(JSONSplitError) -> Step {
        switch first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            try open(isObject: first == UInt8(ascii: "{"))
            return .again
        case UInt8(ascii: "\""):
            guard let (range, isPlain) = try scanString() else { return .starved }
            if range.count - 2 > limits.stringBytesMax, content(range, isPlain: isPlain).count > limits.stringBytesMax {
                throw error("a string is longer than \(limits.stringBytesMax) bytes")
            }
            return try leaf(range, isNull: false)
        default:
            guard let range = try scanWord() else { return .starved }
            if let frame = stack.last, frame.member == .priority, first == UInt8(ascii: "t") || first == UInt8(ascii: "f") {
                throw error(Self.priorityRule)
            }
            return try leaf(range, isNull: first == UInt8(ascii: "n"))
        }
    }

    /// Counts an array element, and records the start of a value that may be output as a whole.
    private mutating func begin() throws(JSONSplitError) {
        if let top = stack.indices.last, !stack[top].isObject {
            let index = stack[top].elementCount
            stack[top].elementCount += 1
            if stack[top].isSplit, collects { setMember(of: stack[top], to: Array("\(index)".utf8)) }
        }
        guard anchor == nil else { return }
        anchor = position
        anchorDepth = stack.count
    }

    private mutating func open(isObject: Bool) throws(JSONSplitError) {
        // Two more than keys, for `{".sv": {"increment": 1}}`.
        guard stack.count < limits.depthMax + 2 else { throw error("this value is nested more than \(limits.depthMax) keys deep") }
        if let frame = stack.last, frame.member == .value { throw error("\".value\" must be a string, a number or a boolean") }
        if let frame = stack.last, frame.member == .priority, !isObject { throw error(Self.priorityRule) }
        try begin()
        let isRoot = stack.isEmpty
        if isRoot { anchor = nil }
        stack.append(
            Frame(isObject: isObject, isSplit: isRoot, start: position, line: line, lineStart: lineStart, pathCount: path.count))
        position += 1
        expectation = isObject ? .keyOrEnd : .elementOrEnd
    }

    private mutating func leaf(_ range: Range<Int>, isNull: Bool) throws(JSONSplitError) -> Step {
        if stack.count > limits.depthMax, (stack.firstIndex { $0.member != .ordinary } ?? stack.count) > limits.depthMax {
            throw error("this value is nested more than \(limits.depthMax) keys deep")
        }
        try begin()
        position = range.upperBound
        return try end(isNull: isNull)
    }

    mutating func close() throws(JSONSplitError) -> Step {
        if let anchor, stack.count == anchorDepth + 1, position + 1 - anchor > limits.valueBytesMax {
            splitAnchor()
            return .again
        }
        let frame = stack.removeLast()
        position += 1
        if frame.isSplit {
            path.removeLast(path.count - frame.pathCount)
            expectation = stack.isEmpty ? .nothing : .commaOrEnd
            return .again
        }
        return try end(isNull: false)
    }

    /// Handles the end of a value: outputs it if it is one to output as a whole.
    private mutating func end(isNull: Bool) throws(JSONSplitError) -> Step {
        expectation = stack.isEmpty ? .nothing : .commaOrEnd
        guard let start = anchor, stack.count == anchorDepth else { return .again }
        anchor = nil
        if stack.last?.member == .serverValue { throw error("\".sv\" cannot be combined with other members") }
        guard !isNull, collects else { return .again }
        guard let frame = stack.last else { return .piece(JSONPiece(path: [], value: text(start..<position), end: position)) }
        switch frame.member {
        case .ordinary: return .piece(JSONPiece(path: path, value: text(start..<position), end: position))
        case .value: return .piece(JSONPiece(path: Array(path.prefix(frame.pathCount)), value: text(start..<position), end: position))
        case .priority:
            priorities.append(JSONPiece(path: Array(path.prefix(frame.pathCount)), value: text(start..<position), end: position))
            return .again
        case .serverValue: return .again
        }
    }
}
