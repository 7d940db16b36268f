import ArgumentParser
import CommandClient
import Files
import Glibc

/// The options of every command that talks to a running host.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The URL of the host. (default: HEARTH_URL, else http://127.0.0.1:5001)", valueName: "url"))
    var url: String?

    // A token may begin with "-", as in earlier versions.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The administrator's token. (default: HEARTH_TOKEN, else admin-token of the data directory)", valueName: "token"))
    var token: String?

    @Option(
        name: .customLong("data-dir"),
        help: ArgumentHelp("The host's data directory, where its admin-token is. (default: HEARTH_DATA, else .hearth)", valueName: "dir"))
    var dataDirectory: String?

    @Option(
        name: .customLong("ca-file"),
        help: ArgumentHelp("Trust the certificates in this PEM file for https, besides those of this machine.", valueName: "file"))
    var authorityFile: String?

    @Flag(help: "Send the token over http to another machine, although others on the network can read it.")
    var insecure = false

    @Flag(help: .jsonOutput)
    var json = false

    /// - Throws: `ClientFailure` if the URL is invalid.
    func client() throws(ClientFailure) -> HostClient {
        let url = try HostURL(parsing: url ?? Self.variable("HEARTH_URL") ?? "http://127.0.0.1:5001")
        let (token, isGuessed) = try foundToken(url)
        guard token == nil || url.isTLS || url.isLoopback || insecure else {
            throw ClientFailure(
                .invalidInput,
                "the administrator's token would go to \(url.authority) over http, where others can read it; use https, or "
                    + "--insecure if you trust the network")
        }
        // The folder may belong to another host on this machine. A host in development mode accepts this token, as the Firebase emulators
        // do.
        let other = isGuessed && url.isLoopback ? HostClient.developmentToken : nil
        return HostClient(url, token: token, otherToken: other, authorityFile: authorityFile)
    }

    /// - Returns: the token, and whether it was guessed from the current folder.
    private func foundToken(_ url: HostURL) throws(ClientFailure) -> (token: String?, isGuessed: Bool) {
        if let given = token ?? Self.variable("HEARTH_TOKEN") {
            // Characters that a header cannot contain indicate a copying mistake.
            guard !given.isEmpty, given.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw ClientFailure(.invalidInput, "the token contains spaces or other characters that cannot be part of a token; copy it again")
            }
            return (given, false)
        }
        let named = dataDirectory ?? Self.variable("HEARTH_DATA")
        let file = "\(named ?? ".hearth")/admin-token"
        do throws(FileFailure) {
            let token = try WholeFile.readText(file, sizeBytesMax: 1024).filter { $0.isASCII && !$0.isWhitespace }
            guard !token.isEmpty else { throw FileFailure("read", code: ENODATA) }
            return (token, named == nil)
        } catch {
            if named != nil {
                throw ClientFailure(.invalidInput, "\(file) cannot be read (\(error.reason.lowercased())); name the host's data directory")
            }
        }
        return (url.isLoopback ? HostClient.developmentToken : nil, false)
    }

    static func variable(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

/// The options of every command for a location in a database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The database instance. (default: the project's own)", valueName: "name"))
    var instance: String?

    /// - Throws: `ClientFailure` if the path contains a forbidden character.
    func target(_ path: String) throws(ClientFailure) -> DatabaseTarget {
        let target = DatabaseTarget(path: path, instance: instance)
        try target.check()
        return target
    }

    /// The name of the instance in URLs of the admin API; `-` for the project's default.
    var name: String { instance ?? "-" }
}
