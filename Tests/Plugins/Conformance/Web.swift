import HearthFunctions

/// Plain HTTP functions with routes and forms.
enum Web {
    static let routes = Router {
        Use(.requestLog)
        Use(.headers(["x-content-type-options": "nosniff"]))
        Route(.get, "rooms/{room}") { request in Response(json: ["room": .string(try request.parameter("room"))]) }
        Route(.post, "rooms/{room}/photos") { request in
            let form = try request.form()
            guard let photo = form.file("photo") else { throw HttpsError(.invalidArgument, "The form has no file \"photo\".") }
            return Response(
                json: [
                    "room": .string(try request.parameter("room")), "title": .string(form["title"] ?? ""), "file": .string(photo.fileName),
                    "bytes": .int(Int64(photo.bytes.count)), "sum": .int(photo.bytes.reduce(0) { $0 + Int64($1) }),
                ], status: 201)
        }
        Routes("admin") {
            Use(.bearerToken { constantTimeEquals($0, "open sesame") })
            Route(.delete, "rooms/{room}") { _ in Response(status: 204) }
        }
        Route(.get, "files/{path...}") { request in Response(text: try request.parameter("path")) }
    }
}
