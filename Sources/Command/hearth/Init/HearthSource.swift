import CommandClient
import Files
import Glibc

/// The source of `HearthFunctions` for a Swift project: the package `SDK/` in Hearth's sources, or a repository that contains that package.
struct HearthSource {
    /// The dependency as the project's `Package.swift` declares it.
    let dependency: String
    /// The name by which the project's targets refer to the package.
    let package: String

    /// - Parameter place: the user's choice; nil for the sources that this program was built from.
    static func find(_ place: String?) throws(ClientFailure) -> HearthSource {
        guard let place else {
            guard let own else {
                throw ClientFailure(
                    .invalidInput,
                    "the sources of Hearth are not where this program is; name their folder or git address with --package, or use --language c")
            }
            return folder(own)
        }
        if place.contains("://") || place.hasPrefix("git@") {
            // The branch, since the versions of a repository are not known here.
            let name = place.split { $0 == "/" || $0 == ":" }.last.map(String.init) ?? place
            return HearthSource(
                dependency: ".package(url: \"\(escaped(place))\", branch: \"main\")",
                package: escaped(name.hasSuffix(".git") ? String(name.dropLast(4)) : name))
        }
        guard let resolved = realpath(place, nil) else {
            throw ClientFailure(.invalidInput, "\(place) cannot be used: \(String(cString: strerror(errno)).lowercased())")
        }
        defer { free(resolved) }
        let found = String(cString: resolved)
        guard let package = [found, "\(found)/SDK"].first(where: isSDK) else {
            throw ClientFailure(
                .invalidInput, "\(found) does not hold the sources of Hearth; --package takes their folder, or the folder SDK in it")
        }
        return folder(package)
    }

    /// The SDK in the sources that this program was built from, if the program is in their build folder.
    private static var own: String? {
        var folder = Terminal.executable[...]
        while let slash = folder.lastIndex(of: "/"), slash > folder.startIndex {
            folder = folder[..<slash]
            if isSDK("\(folder)/SDK") { return "\(folder)/SDK" }
        }
        return nil
    }

    private static func isSDK(_ folder: String) -> Bool {
        access("\(folder)/Sources/HearthFunctions", F_OK) == 0
            && (try? WholeFile.readText("\(folder)/Package.swift", sizeBytesMax: 1 << 20))?.contains("name: \"HearthFunctions\"") == true
    }

    private static func folder(_ folder: String) -> HearthSource {
        HearthSource(dependency: ".package(name: \"hearth-sdk\", path: \"\(escaped(folder))\")", package: "hearth-sdk")
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : String($1) }
    }
}
