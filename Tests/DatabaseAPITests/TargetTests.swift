import HearthBytes
import Testing
import Tree

@testable import DatabaseAPI
@testable import RealtimeDatabase

/// Targets of paths and hosts (spec database 2.1).
@Suite("REST addresses")
struct TargetTests {
    private func isClaimed(_ path: String) -> Bool {
        let path = Array(path.utf8)
        return RESTTarget.claims(path.span)
    }

    private func describe(_ path: String) -> String {
        do throws(RESTError) {
            switch try RESTTarget(Array(path.utf8).span) {
            case .tree(let location): return location.path.description + (location.isPriority ? " priority" : "")
            case .clientInfo: return "info"
            case .setting(let name): return "setting \(name)"
            case .inspection(let name): return "inspect \(name)"
            }
        } catch {
            return error.message
        }
    }

    @Test(arguments: [
        ("/.json", "/"), ("//.json", "/"), ("/a.json", "/a"), ("/a/.json", "/a"), ("//a//b.json", "/a/b"), ("/a%20b/c%C3%A9.json", "/a b/cé"),
        ("/a%2Fb.json", "/a/b"), ("/p/.priority.json", "/p priority"), ("/.priority.json", "/ priority"),
        ("/a.json.json", RESTError.invalidPath.message),
        ("/.settings/rules.json", "setting rules"), ("/.settings/rulesets/-N1.json", "setting rulesets/-N1"),
        ("/.inspect/databases.json", "inspect databases"), ("/.info.json", "info"), ("/.info/connected.json", "info"),
        ("/.other/x.json", RESTError.invalidPath.message), ("/a$b.json", RESTError.invalidPath.message),
        ("/a%5Bb.json", RESTError.invalidPath.message),
        ("/a%01b.json", RESTError.invalidPath.message), ("/a%zz.json", RESTError.invalidPath.message),
        ("/a/.value.json", RESTError.invalidPath.message),
    ])
    func paths(path: String, meaning: String) {
        #expect(isClaimed(path))
        #expect(describe(path) == meaning)
    }

    @Test(arguments: ["", "/", ".json", "/a", "/a.json/", "/a.jso", "/a.JSON", "/json"])
    func whatIsNotClaimed(path: String) {
        #expect(!isClaimed(path))
    }

    @Test(arguments: [
        ("demo.firebaseio.com", "demo"), ("Demo.FirebaseIO.com:443", "demo"), ("demo.europe-west1.firebasedatabase.app", "demo"),
        ("demo.localhost:5001", "demo"), ("localhost:5001", nil), ("127.0.0.1:5001", nil), ("[::1]:5001", nil), ("db.example.com", nil), ("", nil),
        (".localhost", nil), ("firebaseio.com", nil),
    ])
    func hosts(host: String, namespace: String?) {
        let host = Array(host.utf8)
        let found = NamespaceHosts().namespace(of: host.span)
        #expect(found == namespace)
    }
}
