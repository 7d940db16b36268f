import FunctionWorker
import Glibc

/// The headers of a file, read before anything of it is loaded: whether it is a complete library for this machine.
struct LibraryFile {
    /// The name of the file in messages.
    let name: String
    let descriptor: Int32
    let size: Int

    /// The maximum size of a library in bytes.
    static let sizeMax = 1 << 30

    private static let headerSize = 64
    private static let segmentsMax = 256

    /// - Throws: `PluginRefusal` if it is not a file, or too large.
    init(descriptor: Int32, name: String) throws(PluginRefusal) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw PluginRefusal("\(name): is not a regular file")
        }
        guard status.st_size <= Self.sizeMax else {
            throw PluginRefusal("\(name): has \(status.st_size) bytes, more than \(Self.sizeMax)")
        }
        self.descriptor = descriptor
        self.name = name
        size = Int(status.st_size)
    }

    /// - Throws: `PluginRefusal` if, according to its headers, it cannot be loaded here.
    func check() throws(PluginRefusal) {
        let header = bytes(at: 0, count: Self.headerSize)
        guard header.starts(with: [0x7F, 0x45, 0x4C, 0x46]) else {
            throw PluginRefusal("\(name): is not an ELF file; a plugin is a shared object for Linux")
        }
        guard header.count == Self.headerSize else { throw truncated(names: Self.headerSize) }
        guard header[4] == 2, header[5] == 1 else {
            throw PluginRefusal("\(name): is for a machine of another word size or byte order; build it for \(Self.hostMachine.name)")
        }
        let machine = Self.number(header, 18, 2)
        guard machine == Self.hostMachine.code else {
            throw PluginRefusal("\(name): is for \(Self.machineName(machine)), this host runs on \(Self.hostMachine.name)")
        }
        guard Self.number(header, 16, 2) == 3 else {
            throw PluginRefusal("\(name): is not a shared object; link it with -shared, or as a dynamic library product")
        }
        try checkIsWhole(header)
    }

    private func checkIsWhole(_ header: [UInt8]) throws(PluginRefusal) {
        let (segmentsAt, segmentSize, segmentCount) = (Self.number(header, 32, 8), Self.number(header, 54, 2), Self.number(header, 56, 2))
        let (sectionsAt, sectionSize, sectionCount) = (Self.number(header, 40, 8), Self.number(header, 58, 2), Self.number(header, 60, 2))
        guard segmentCount > 0, segmentCount <= Self.segmentsMax, segmentSize == 56 else {
            throw PluginRefusal("\(name): is damaged: its header has \(segmentCount) segments")
        }
        var end = max(try sum(segmentsAt, segmentCount * segmentSize), try sum(sectionsAt, sectionCount * sectionSize))
        if end <= size {
            let segments = bytes(at: segmentsAt, count: segmentCount * segmentSize)
            for index in 0..<segments.count / segmentSize {
                end = max(end, try sum(Self.number(segments, index * segmentSize + 8, 8), Self.number(segments, index * segmentSize + 32, 8)))
            }
        }
        guard end <= size else { throw truncated(names: end) }
    }

    private func sum(_ left: Int, _ right: Int) throws(PluginRefusal) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        guard !overflow, left >= 0, right >= 0 else { throw PluginRefusal("\(name): is damaged: its header refers to a place beyond any file") }
        return sum
    }

    private func truncated(names count: Int) -> PluginRefusal {
        PluginRefusal("\(name): is truncated: it has \(size) bytes of the \(count) that its headers describe; build or copy it again")
    }

    private func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { room, filled in
            filled = max(0, pread(descriptor, room.baseAddress, count, off_t(offset)))
        }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        Int(truncatingIfNeeded: (0..<count).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) })
    }

    private static var hostMachine: (code: Int, name: String) {
        #if arch(x86_64)
            (62, "x86_64")
        #elseif arch(arm64)
            (183, "aarch64")
        #else
            #error("name the ELF machine of this architecture")
        #endif
    }

    private static func machineName(_ code: Int) -> String {
        switch code {
        case 3: "i386"
        case 40: "arm"
        case 62: "x86_64"
        case 183: "aarch64"
        case 243: "riscv64"
        default: "machine \(code)"
        }
    }
}
