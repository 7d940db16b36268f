import CommandClient
import Files
import Glibc

/// Where a project in Swift finds `HearthFunctions`: in Hearth's own package.
enum HearthSource {
    /// How a package names it as a dependency.
    ///
    /// - Parameter place: what the user said; nil for the sources that this program was built from.
    static func dependency(_ place: String?) throws(ClientFailure) -> String {
        guard let place else {
            guard let own else {
                throw ClientFailure(
                    .invalidInput,
                    "the sources of Hearth are not where this program is; name their folder or git address with --package, or say --language c")
            }
            return path(own)
        }
        if place.contains("://") || place.hasPrefix("git@") {
            // Versions are no choice: packages with compiler flags of their own are taken by branch or revision only.
            return ".package(url: \"\(escaped(place))\", branch: \"main\")"
        }
        guard let resolved = realpath(place, nil) else {
            throw ClientFailure(.invalidInput, "\(place) cannot be used: \(String(cString: strerror(errno)).lowercased())")
        }
        defer { free(resolved) }
        let folder = String(cString: resolved)
        guard isHearth(folder) else {
            throw ClientFailure(.invalidInput, "\(folder) does not hold the sources of Hearth; its Package.swift is what --package looks for")
        }
        return path(folder)
    }

    /// The package that this program was built from, as long as the program is in that package's build folder.
    private static var own: String? {
        var folder = Terminal.executable[...]
        while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = folder[..<slash]
            if isHearth(String(folder)) { return String(folder) }
        }
        return nil
    }

    private static func isHearth(_ folder: String) -> Bool {
        access("\(folder)/Sources/HearthFunctions", F_OK) == 0
            && (try? WholeFile.readText("\(folder)/Package.swift", sizeBytesMax: 1 << 20))?.contains("name: \"HearthFunctions\"") == true
    }

    private static func path(_ folder: String) -> String { ".package(name: \"hearth\", path: \"\(escaped(folder))\")" }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : String($1) }
    }
}
