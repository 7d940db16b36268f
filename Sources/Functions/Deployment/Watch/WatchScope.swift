import Files
import PluginBuild

/// Which files belong to what.
struct WatchScope: Sendable, Equatable {
    /// What one plugin is made from.
    struct Plugin: Sendable, Equatable {
        var files: Set<String> = []
        /// Folders in which any file counts, at any depth.
        var trees: Set<String> = []

        func owns(_ path: String) -> Bool { files.contains(path) || trees.contains { path.hasPrefix("\($0)/") } }
    }

    var plugins: [String: Plugin] = [:]
    /// `functions.json` and the environment files; they need not exist.
    var settings: Set<String> = []

    /// No more files and folders than these are looked at.
    static let filesMax = 50_000
    static let foldersMax = 8_000

    /// Looks at everything. Blocks: for the thread pool.
    func snapshot(filesMax: Int = WatchScope.filesMax, foldersMax: Int = WatchScope.foldersMax) -> WatchSnapshot {
        var snapshot = WatchSnapshot(filesMax: filesMax, foldersMax: foldersMax)
        for file in settings { snapshot.look(at: file) }
        for plugin in plugins.values {
            for file in plugin.files { snapshot.look(at: file) }
            for tree in plugin.trees {
                snapshot.watch(Folder.parent(of: tree))
                snapshot.walk(tree, depth: 0)
            }
        }
        return snapshot
    }

    func contains(_ path: String) -> Bool { settings.contains(path) || plugins.values.contains { $0.owns(path) } }

    /// Whether a name is one that editors and tools leave for themselves.
    static func isPassing(_ name: String) -> Bool {
        if name.hasPrefix(".") { return !name.hasPrefix(".env") && name != ".secret.local" }
        if name.hasSuffix("~") || name.hasPrefix("#") || name == "4913" { return true }
        return passingEndings.contains(where: name.hasSuffix)
    }

    private static let passingEndings = [".log", ".swp", ".swo", ".swx", ".tmp", ".bak", ".orig", ".rej"]
}

/// How everything that is watched looked at one time.
struct WatchSnapshot: Sendable {
    private(set) var stamps: [String: FileStamp] = [:]
    /// The folders in which a change would be seen.
    private(set) var folders: [String: FileStamp] = [:]
    /// Whether a folder that should be watched is not there.
    private(set) var isIncomplete = false
    /// Whether there is more than is looked at.
    private(set) var isFull = false
    private let filesMax: Int
    private let foldersMax: Int

    fileprivate init(filesMax: Int, foldersMax: Int) {
        self.filesMax = filesMax
        self.foldersMax = foldersMax
    }

    fileprivate mutating func look(at file: String) {
        watch(Folder.parent(of: file))
        if let stamp = FileStamp(file), !stamp.isFolder { add(file, stamp) }
    }

    private mutating func add(_ file: String, _ stamp: FileStamp?) {
        if stamps.count < filesMax || stamps[file] != nil { stamps[file] = stamp } else { isFull = true }
    }

    /// Watches a folder, or where it is missing the nearest one above it.
    fileprivate mutating func watch(_ folder: String) {
        guard folders[folder] == nil else { return }
        guard folders.count < foldersMax else { return isFull = true }
        if let stamp = FileStamp(folder), stamp.isFolder {
            folders[folder] = stamp
        } else {
            isIncomplete = true
            if folder != "/" && folder != "." { watch(Folder.parent(of: folder)) }
        }
    }

    fileprivate mutating func walk(_ folder: String, depth: Int) {
        watch(folder)
        guard depth < 64, !isFull else { return isFull = true }
        for (name, isFolder) in Folder.entries(folder) where !WatchScope.isPassing(name) {
            let path = "\(folder)/\(name)"
            if isFolder { walk(path, depth: depth + 1) } else { add(path, FileStamp(path)) }
        }
    }
}
