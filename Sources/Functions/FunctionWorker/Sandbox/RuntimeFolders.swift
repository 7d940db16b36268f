import Glibc

/// Finds the folders of the Swift runtime for a library that was not linked with `-static-stdlib`: those of its run path (`DT_RUNPATH`)
/// that contain the runtime.
///
/// The library is untrusted: a folder counts only if it contains a `libswiftCore.so`.
enum RuntimeFolders {
    private static let tableSizeMax = 1 << 20
    private static let textSizeMax: UInt64 = 4096
    private static let countMax = 16

    /// Opens the folders that the library at `path` names; none if it is no library of this machine's architecture.
    ///
    /// Another worker of the plugin may replace the target of a path at any moment: each path is opened once, and only the opened file is
    /// examined.
    static func open(of path: String) -> [Int32] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        guard let paths = runPaths(descriptor) else { return [] }
        return paths.prefix(countMax).filter { $0.hasPrefix("/") }.compactMap { path in
            let folder = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else { return nil }
            if faccessat(folder, "libswiftCore.so", R_OK, 0) == 0 { return folder }
            close(folder)
            return nil
        }
    }

    private static func runPaths(_ file: Int32) -> [String]? {
        guard let head = read(file, 0, MemoryLayout<Elf64_Ehdr>.size, as: Elf64_Ehdr.self).first, head.e_ident.0 == 0x7F else { return nil }
        let segments = read(file, head.e_phoff, Int(head.e_phnum) * MemoryLayout<Elf64_Phdr>.size, as: Elf64_Phdr.self)
        guard let dynamic = segments.first(where: { $0.p_type == 2 /* PT_DYNAMIC */ }) else { return nil }
        // Pairs of a tag and its value.
        let entries = read(file, dynamic.p_offset, Int(clamping: dynamic.p_filesz), as: UInt64.self)
        let value: (UInt64) -> UInt64? = { tag in
            stride(from: 0, to: entries.count - 1, by: 2).first { entries[$0] == tag }.map { entries[$0 + 1] }
        }
        // DT_STRTAB, DT_STRSZ; DT_RUNPATH, or DT_RPATH if there is none.
        guard let table = value(5), let tableSize = value(10), let start = value(29) ?? value(15), start < tableSize else { return nil }
        // The table's address in memory, which a segment maps from the file.
        guard let segment = segments.first(where: { $0.p_type == 1 && table >= $0.p_vaddr && table - $0.p_vaddr < $0.p_filesz }) else { return nil }
        let place = (table - segment.p_vaddr).addingReportingOverflow(segment.p_offset)
        guard !place.overflow else { return nil }
        let size = Int(clamping: min(tableSize - start, textSizeMax))
        let text = read(file, place.partialValue &+ start, size, as: UInt8.self).prefix { $0 != 0 }
        return String(decoding: text, as: UTF8.self).split(separator: ":").map(String.init)
    }

    /// Reads `size` bytes at `offset` as values; empty if the file is shorter or `size` exceeds the limit.
    private static func read<T: BitwiseCopyable>(_ file: Int32, _ offset: UInt64, _ size: Int, as type: T.Type) -> [T] {
        guard size <= tableSizeMax, let offset = Int(exactly: offset) else { return [] }
        let count = size / MemoryLayout<T>.stride
        return [T](unsafeUninitializedCapacity: count) { room, filled in
            let bytes = pread(file, room.baseAddress, count * MemoryLayout<T>.stride, offset)
            filled = bytes == count * MemoryLayout<T>.stride ? count : 0
        }
    }
}
