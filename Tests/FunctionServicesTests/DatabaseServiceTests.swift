import EventLoop
import HearthJSON
import RealtimeDatabase
import Testing
import Tree

@testable import FunctionDispatch
@testable import FunctionServices

@Suite("Calls of the database service")
struct DatabaseServiceTests {
    private func request(_ method: String, _ payload: String) throws(DatabaseServiceRefusal) -> DatabaseServiceRequest {
        let artifact = Artifact(name: "p", hash: String(repeating: "0", count: 64), path: "p.so", displayName: "p.so", lease: Artifact.Lease())
        let call = ServiceCall(artifact: artifact, service: "database", method: method, payload: Array(payload.utf8), chain: EventChain())
        return try DatabaseServiceRequest(call, key: "-new")
    }

    private func write(_ method: String, _ payload: String) throws -> WriteRequest {
        guard case .write(let write, _) = try request(method, payload).action else { throw DatabaseServiceRefusal.invalid("no write") }
        return write
    }

    private func query(_ json: String) throws -> Query? {
        guard case .read(let read) = try request("get", #"{"path":"l","query":\#(json)}"#).action, case .query(let query) = read.kind
        else { return nil }
        return query
    }

    @Test("nobody named is an administrator, null is signed out, an object is a user")
    func principals() throws {
        guard case .admin = try write("remove", #"{"path":"a"}"#).principal else { throw DatabaseServiceRefusal.invalid("no admin") }
        #expect(try write("remove", #"{"path":"a"}"#).origin == .admin)
        let nobody = try write("remove", #"{"auth":null}"#)
        guard case .user(auth: nil) = nobody.principal else { throw DatabaseServiceRefusal.invalid("not signed out") }
        #expect(nobody.origin == .unauthenticated)
        let user = try write("remove", #"{"auth":{"uid":"u","token":{"firebase":{"sign_in_provider":"password"},"staff":true}}}"#)
        guard case .user(let auth?) = user.principal else { throw DatabaseServiceRefusal.invalid("no user") }
        #expect(auth["uid"] == "u" && auth["provider"] == "password" && auth["token"]?["staff"] == true)
        #expect(user.origin == EventOrigin(.user, id: "u"))
    }

    @Test("a priority beside the value is that of the value")
    func priorities() throws {
        guard case .set(let path, let draft) = try write("set", #"{"path":"/a//b/","value":{".value":1,".priority":2},"priority":"p"}"#).operation
        else { throw DatabaseServiceRefusal.invalid("no set") }
        #expect(path.description == "/a/b" && draft.node.priority == .string("p"))
        guard case .set(_, let timed) = try write("set", #"{"value":1,"priority":{".sv":"timestamp"}}"#).operation
        else { throw DatabaseServiceRefusal.invalid("no set") }
        #expect(timed.timestampPriorities == [.root])
        guard case .set(_, let removed) = try write("set", #"{"value":null,"priority":3}"#).operation
        else { throw DatabaseServiceRefusal.invalid("no set") }
        #expect(removed.node.isEmpty)
    }

    @Test("a pushed value has a place of its own")
    func pushes() throws {
        let push = try request("push", #"{"path":"list","value":1}"#)
        #expect(push.path.description == "/list/-new")
    }

    @Test("queries are read whole")
    func queries() throws {
        #expect(try query("null") == nil)
        #expect(try query("{}") == Query())
        #expect(try query(#"{"orderBy":"a//b"}"#)?.order == .child(Path(["a", "b"])))
        let range = try query(#"{"orderBy":"$value","startAfter":{"value":1,"key":"k"},"endAt":{"value":"x"},"limitToLast":3}"#)
        #expect(range == Query(order: .value, start: .startAfter(.number(1), key: "k"), end: .endAt(.string("x")), limit: 3, anchorsLast: true))
        let equal = try query(#"{"orderBy":"$key","equalTo":{"value":"k"},"limitToFirst":1}"#)
        #expect(equal == Query(order: .key, start: .startAt(.string("k")), end: .endAt(.string("k")), limit: 1))
    }

    @Test("a wait has a mark, a name and a longest time")
    func observing() throws {
        guard case .observe(let first) = try request("observe", #"{"path":"a"}"#).action else { throw DatabaseServiceRefusal.invalid("no observe") }
        #expect(first.mark == nil && first.id == nil && first.timeoutMilliseconds == 3_600_000)
        let payload = #"{"path":"a","mark":"m","id":"i","timeoutMilliseconds":5,"query":{"limitToLast":1}}"#
        guard case .observe(let wait) = try request("observe", payload).action else { throw DatabaseServiceRefusal.invalid("no observe") }
        #expect(wait.mark == "m" && wait.id == "i" && wait.timeoutMilliseconds == 5 && wait.read.path.description == "/a")
        guard case .observe(let long) = try request("observe", #"{"timeoutMilliseconds":9999999999}"#).action
        else { throw DatabaseServiceRefusal.invalid("no observe") }
        #expect(long.timeoutMilliseconds == 3_600_000)
        guard case .unobserve("i") = try request("unobserve", #"{"id":"i"}"#).action else { throw DatabaseServiceRefusal.invalid("no unobserve") }
    }

    @Test("marks differ for different values, and are the same everywhere")
    func marks() {
        #expect(ValueMark.of(Array("null".utf8)) == "74234e98afe7498fb5daf1f36ac2d78a")
        #expect(ValueMark.of(Array("1".utf8)) != ValueMark.of(Array("2".utf8)))
    }

    @Test("the end of a scope is told once, and also to those who come later")
    func scopes() async throws {
        let loop = try EventLoop()
        var told: [String] = []
        let scope = CallScope()
        _ = scope.whenOver(on: loop) { told.append("first") }
        let second = scope.whenOver(on: loop) { told.append("second") }
        scope.forget(second)
        scope.end()
        scope.end()
        _ = scope.whenOver(on: loop) {
            told.append("late")
            loop.stop()
        }
        loop.run()
        #expect(told == ["first", "late"])
    }

    @Test("what is wrong is said with its place", arguments: [
        ("get", "5", "/"), ("get", #"{"path":"a","other":1}"#, "/"), ("set", #"{"path":"a/b"}"#, "/a/b"),
        ("set", #"{"path":"a","value":{"b.c":1}}"#, "/a"), ("get", #"{"path":"a.b"}"#, "a.b"),
        ("get", #"{"path":"a","query":{"limitToFirst":1.5}}"#, "/a"), ("transaction", #"{"path":"a","value":1}"#, "/a"),
        ("observe", #"{"path":"a","mark":5}"#, "/a"), ("observe", #"{"path":"a","timeoutMilliseconds":-1}"#, "/a"), ("unobserve", "{}", "/"),
    ])
    func refusals(_ method: String, _ payload: String, _ path: String) throws {
        do throws(DatabaseServiceRefusal) {
            _ = try request(method, payload)
            Issue.record("it was taken")
        } catch {
            #expect(error.reason == .invalidArgument && error.path == path)
        }
    }
}
