import Files
import PluginBuild

/// The files that belong to each plugin, and those with settings.
struct WatchScope: Sendable, Equatable {
    /// The sources of one plugin.
    struct Plugin: Sendable, Equatable {
        var files: Set<String> = []
        /// Folders in which all files are watched, at any depth.
        var trees: Set<String> = []

        func owns(_ path: String) -> Bool { files.contains(path) || trees.contains { path.hasPrefix("\($0)/") } }
    }

    var plugins: [String: Plugin] = [:]
    /// `functions.json` and the environment files. They need not exist.
    var settings: Set<String> = []

    /// The most files and folders that are checked.
    static let filesMax = 50_000
    static let foldersMax = 8_000

    /// Reads the state of all files. Blocks, and must run on the thread pool.
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

    /// Whether a name is that of a temporary file of an editor or another tool.
    static func isPassing(_ name: String) -> Bool {
        if name.hasPrefix(".") { return !name.hasPrefix(".env") && name != ".secret.local" }
        if name.hasSuffix("~") || name.hasPrefix("#") || name == "4913" { return true }
        return passingEndings.contains(where: name.hasSuffix)
    }

    private static let passingEndings = [".log", ".swp", ".swo", ".swx", ".tmp", ".bak", ".orig", ".rej"]
}

/// The state of all watched files at one time.
struct WatchSnapshot: Sendable {
    private(set) var stamps: [String: FileStamp] = [:]
    /// The folders to watch.
    private(set) var folders: [String: FileStamp] = [:]
    /// Whether a folder that should be watched does not exist.
    private(set) var isIncomplete = false
    /// Whether a limit was exceeded.
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

    /// Watches a folder, or its nearest existing parent.
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
