import Glibc
import HearthFunctions

/// Properties of the process that a function runs in.
enum Surroundings {
    struct Variable: Decodable {
        var name: String
    }

    /// The variable's text; null where it is not set.
    static func variable(_ variable: Variable) -> JSONValue {
        guard let text = getenv(variable.name) else { return .null }
        return .string(String(cString: text))
    }

    static func process() -> JSONValue {
        [
            "pid": .int(Int64(getpid())),
            "parent": .int(Int64(getppid())),
            "directory": .string(directory),
            "limits": [
                "openFiles": limit(__rlimit_resource_t(7)),
                "data": limit(__rlimit_resource_t(2)),
                "core": limit(__rlimit_resource_t(4)),
            ],
            "openFiles": .array((0..<1024).filter { fcntl($0, F_GETFD) >= 0 }.map { .int(Int64($0)) }),
        ]
    }

    private static var directory: String {
        guard let text = getcwd(nil, 0) else { return "" }
        defer { free(text) }
        return String(cString: text)
    }

    /// The soft limit; null where there is none.
    private static func limit(_ resource: __rlimit_resource_t) -> JSONValue {
        var limits = rlimit()
        guard getrlimit(resource, &limits) == 0, limits.rlim_cur != rlim_t.max else { return .null }
        return JSONValue(limits.rlim_cur)
    }
}
