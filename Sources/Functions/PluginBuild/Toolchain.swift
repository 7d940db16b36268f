import Glibc

/// An installed Swift.
public struct Toolchain: Sendable, Equatable {
    /// The path of `swift`; its other programs are beside it.
    public let swift: String

    /// What is looked for, for messages.
    public static let advice = "install Swift 6.3 or newer from https://www.swift.org/install/linux, or put it on PATH"

    /// A toolchain whose `swift` is at this path; whether it is there is not looked at.
    public init(swift: String) { self.swift = swift }

    /// Its program that finds lines of source for addresses; nil where it has none.
    public var symbolizer: String? {
        let path = swift.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/llvm-symbolizer"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// The first `swift` on `PATH`, else where installers put it.
    public static func find(path: String? = nil) -> Toolchain? {
        let list = path ?? getenv("PATH").map { String(cString: $0) } ?? ""
        let home = getenv("HOME").map { String(cString: $0) } ?? "/root"
        let folders = list.split(separator: ":").map(String.init) + ["/opt/swift/usr/bin", "\(home)/.local/share/swiftly/bin"]
        for folder in folders where folder.hasPrefix("/") {
            let candidate = "\(folder)/swift"
            if access(candidate, X_OK) == 0 { return Toolchain(swift: candidate) }
        }
        return nil
    }
}
