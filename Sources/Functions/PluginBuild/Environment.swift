import Glibc

/// What compilers get as their environment.
enum Environment {
    /// All variables of this process, `NAME=value`.
    static func inherited() -> [String] {
        var variables: [String] = []
        var next = environ
        while let variable = next.pointee {
            variables.append(String(cString: variable))
            next += 1
        }
        return variables
    }
}
