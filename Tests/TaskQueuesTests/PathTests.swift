import Testing

@testable import TaskQueues

@Suite struct PathTests {
    @Test func pathsOfBothForms() throws {
        let path = try #require(self.path("/v2/projects/demo/locations/us-central1/queues/mail/tasks"))
        #expect(path.project == "demo" && path.location == "us-central1" && path.queue == "mail" && path.task == nil && !path.isEmulated)
        let emulated = try #require(self.path("/projects/demo/locations/us-central1/queues/mail/tasks/a-1"))
        #expect(emulated.isEmulated && emulated.task == "a-1")
        #expect(emulated.id(inName: "projects/demo/locations/us-central1/queues/mail/tasks/b") == "b")
        #expect(emulated.id(inName: "projects/demo/locations/us-central1/queues/other/tasks/b") == nil)
    }

    @Test(arguments: [
        "/v2/projects/demo/locations/l/queues/q", "/v2/projects/demo/locations/l/queues/q/tasks/", "/v2/projects//locations/l/queues/q/tasks",
        "/v2/projects/demo/tenants", "/v2/projects/demo/locations/l/queues/q/tasks/a/b", "/projects/demo",
    ])
    func otherPaths(_ text: String) { #expect(path(text) == nil) }

    private func path(_ text: String) -> TaskPath? {
        let bytes = Array(text.utf8)
        return TaskPath(bytes.span)
    }
}
