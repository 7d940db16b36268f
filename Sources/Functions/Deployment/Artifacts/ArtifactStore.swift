import Crypto
import Files
import FunctionWorker
import Glibc
import HearthBytes

/// The host's own copies of libraries, so that a rebuilt or deleted file does not affect running functions. The manifest of a probed
/// library is beside it. Every call blocks: for the thread pool.
struct ArtifactStore: Sendable {
    /// `artifacts` in the data directory.
    let directory: String

    /// A library in the store.
    struct Entry: Sendable {
        var hash: String
        var path: String
        /// Its manifest, if it was probed.
        var manifest: [UInt8]?
    }

    private static let manifestSizeMax = 16 << 20

    func path(of hash: String) -> String { "\(directory)/\(hash).so" }
    private func manifestPath(of hash: String) -> String { "\(directory)/\(hash).json" }

    /// Copies a library into the store, unless it is already there.
    ///
    /// - Throws: `PluginRefusal` if it cannot be read or loaded here, or if the copy cannot be written.
    func admit(file: String) throws(PluginRefusal) -> Entry {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw PluginRefusal("\(file): cannot be read: \(Self.reason())") }
        defer { close(source) }
        let library = try LibraryFile(descriptor: source, name: file)
        try library.check()
        let hash = try Self.hash(of: source, file)
        if isWhole(hash, size: library.size) { return entry(hash) }
        let temporary = "\(directory)/incoming-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let copy = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o500)
        guard copy >= 0 else { throw PluginRefusal("\(file): cannot be copied to \(directory): \(Self.reason())") }
        defer {
            close(copy)
            unlink(temporary)
        }
        let copied = try Self.copy(from: source, to: copy, file)
        // A compiler may still be writing the file, so that the copy differs from what was checked.
        guard copied == hash else { throw PluginRefusal("\(file): changed while it was being read; try again when it is complete") }
        guard fsync(copy) == 0, rename(temporary, path(of: hash)) == 0 else {
            throw PluginRefusal("\(file): cannot be copied to \(directory): \(Self.reason())")
        }
        Folder.sync(directory)
        return entry(hash)
    }

    /// Admits a file whose hash is known and which is never written again, by a second name for it.
    func adopt(file: String, hash: String, name: String) throws(PluginRefusal) -> Entry {
        let source = open(file, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw PluginRefusal("\(name): cannot be read: \(Self.reason())") }
        defer { close(source) }
        let library = try LibraryFile(descriptor: source, name: name)
        try library.check()
        guard link(file, path(of: hash)) == 0 || errno == EEXIST else {
            throw PluginRefusal("\(name): cannot be put into \(directory): \(Self.reason())")
        }
        Folder.sync(directory)
        return entry(hash)
    }

    private func isWhole(_ hash: String, size: Int) -> Bool {
        var status = stat()
        return stat(path(of: hash), &status) == 0 && status.st_size == size
    }

    /// Whether the store has a library with this hash.
    func contains(_ hash: String) -> Bool { access(path(of: hash), R_OK) == 0 }

    /// The stored library with this hash.
    func entry(_ hash: String) -> Entry {
        let bytes = try? WholeFile.read(manifestPath(of: hash), sizeBytesMax: Self.manifestSizeMax)
        return Entry(hash: hash, path: path(of: hash), manifest: bytes)
    }

    /// Stores the manifest of a library, so that it need not be probed again. A failure costs another probe.
    func remember(_ manifest: [UInt8], of hash: String) {
        try? DurableFile.replace(manifestPath(of: hash), with: manifest, mode: 0o600)
    }

    /// Removes files that are not in `kept`, and the remains of a host that was killed.
    func removeAll(except kept: Set<String>) {
        for name in Folder.names(in: directory) {
            let hash = name.split(separator: ".", maxSplits: 1).first.map(String.init) ?? name
            if !kept.contains(hash) { unlink("\(directory)/\(name)") }
        }
    }

    // MARK: Hashes

    /// - Returns: 64 hexadecimal digits.
    static func hash(of descriptor: Int32, _ name: String) throws(PluginRefusal) -> String {
        try read(descriptor, name) { _ in true }
    }

    private static func copy(from source: Int32, to copy: Int32, _ name: String) throws(PluginRefusal) -> String {
        try read(source, name) { DurableFile.writeAll($0, to: copy) }
    }

    private static func read(
        _ descriptor: Int32, _ name: String, _ take: (UnsafeRawBufferPointer) -> Bool
    ) throws(PluginRefusal) -> String {
        var hasher = SHA256()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { room.deallocate() }
        var offset: off_t = 0
        while true {
            let count = pread(descriptor, room.baseAddress, room.count, offset)
            guard count >= 0 else { throw PluginRefusal("\(name): cannot be read: \(reason())") }
            if count == 0 { break }
            let piece = UnsafeRawBufferPointer(rebasing: room[..<count])
            hasher.update(bufferPointer: piece)
            guard take(piece) else { throw PluginRefusal("\(name): cannot be copied: \(reason())") }
            offset += off_t(count)
        }
        return Hexadecimal.text(hasher.finalize())
    }

    static func reason() -> String { errno == ENOSPC || errno == EDQUOT ? "the disk is full" : String(cString: strerror(errno)) }
}
