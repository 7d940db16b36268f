/// What a client is told when its data does not have the shape that the function declares: "data.text is missing".
func shapeProblem(_ error: any Error, root: String) -> String {
    guard let error = error as? DecodingError else { return "\(root) is not valid: \(error)" }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(place(context.codingPath + [key], root)) is missing."
    case .valueNotFound(_, let context):
        return "\(place(context.codingPath, root)) must not be null."
    case .typeMismatch(_, let context), .dataCorrupted(let context):
        return "\(place(context.codingPath, root)): \(context.debugDescription)"
    @unknown default:
        return "\(root) is not valid."
    }
}

private func place(_ path: [any CodingKey], _ root: String) -> String {
    path.reduce(root) { place, key in
        if let index = key.intValue { "\(place)[\(index)]" } else { "\(place).\(key.stringValue)" }
    }
}
