import Glibc

/// The functions in a library's symbol table, for machines without compiler tools. Reads untrusted files.
struct SymbolTable {
    private struct Symbol {
        var start: UInt64
        var size: UInt64
        var name: Int
    }

    private let file: [UInt8]
    private var symbols: [Symbol] = []

    /// The table of the file at `path`; empty if it has none or it cannot be read.
    init(path: String) {
        file = Self.read(path)
        readSections()
        symbols.sort { $0.start < $1.start }
    }

    /// The name of the function that contains `offset`.
    func name(at offset: UInt64) -> String? {
        var low = 0
        var high = symbols.count
        while low < high {
            let middle = (low + high) / 2
            if symbols[middle].start <= offset { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let symbol = symbols[low - 1]
        guard offset - symbol.start < symbol.size else { return nil }
        let name = file[symbol.name...].prefix(4096).prefix { $0 != 0 }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }

    /// Offsets of a 64-bit little-endian ELF file: the section table, and in each section its type, offset, size and link.
    private mutating func readSections() {
        guard file.starts(with: [0x7F, 0x45, 0x4C, 0x46, 2, 1]), let table: UInt64 = number(at: 40), let size: UInt16 = number(at: 58),
            let count: UInt16 = number(at: 60), let table = Int(exactly: table)
        else { return }
        let symbolTables: [UInt32] = [2, 11]
        for index in 0..<Int(count) {
            guard let section = Self.sum(table, index * Int(size)), let type: UInt32 = number(at: section, plus: 4), symbolTables.contains(type),
                let link: UInt32 = number(at: section, plus: 40), let place = place(ofSection: section),
                let namesSection = Self.sum(table, Int(min(link, 0xFFFF)) * Int(size)), let names = self.place(ofSection: namesSection)
            else { continue }
            readSymbols(place, names: names)
        }
    }

    /// Nil on overflow: the numbers in the file are untrusted.
    private static func sum(_ left: Int, _ right: Int) -> Int? {
        let (sum, isTooLarge) = left.addingReportingOverflow(right)
        return isTooLarge ? nil : sum
    }

    private func place(ofSection section: Int) -> Range<Int>? {
        guard let offset: UInt64 = number(at: section, plus: 24), let size: UInt64 = number(at: section, plus: 32), let start = Int(exactly: offset),
            let size = Int(exactly: size), start <= file.count, size <= file.count - start
        else { return nil }
        return start..<start + size
    }

    private mutating func readSymbols(_ place: Range<Int>, names: Range<Int>) {
        let functionType: UInt8 = 2
        for entry in stride(from: place.lowerBound, to: place.upperBound - 23, by: 24) {
            guard let name: UInt32 = number(at: entry), file[entry + 4] & 0xF == functionType, let start: UInt64 = number(at: entry + 8),
                let size: UInt64 = number(at: entry + 16), size > 0, Int(name) < names.count
            else { continue }
            symbols.append(Symbol(start: start, size: size, name: names.lowerBound + Int(name)))
        }
    }

    private func number<T: FixedWidthInteger & BitwiseCopyable>(at start: Int, plus distance: Int = 0) -> T? {
        guard let offset = Self.sum(start, distance), offset >= 0, offset <= file.count - MemoryLayout<T>.size else { return nil }
        return file.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
    }

    private static func read(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size < 1 << 30 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { room, count in
            while count < room.count {
                let piece = Glibc.read(descriptor, room.baseAddress.map { $0 + count }, room.count - count)
                guard piece > 0 else { return }
                count += piece
            }
        }
    }
}
