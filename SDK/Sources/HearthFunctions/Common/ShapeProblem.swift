internal import HearthJSON

/// The message to a client whose data does not have the shape that the function declares: "data.text is missing".
///
/// Clients are written in any language, so types have JSON's names here, and not Swift's.
func shapeProblem(_ error: any Error, root: String) -> String {
    guard let error = error as? DecodingError else { return "\(root) is not valid: \(error)" }
    switch error {
    case .keyNotFound(let key, let context):
        return "\(place(context.codingPath + [key], root)) is missing."
    case .valueNotFound(_, let context):
        return "\(place(context.codingPath, root)) must not be null."
    case .typeMismatch(let type, let context):
        let place = place(context.codingPath, root)
        guard let found = context.debugDescription.firstRange(of: ", found "), let expected = name(of: type),
            let actual = name(ofFound: context.debugDescription[found.upperBound...])
        else { return "\(place): \(context.debugDescription)" }
        return "\(place) must be \(expected), and is \(actual)."
    case .dataCorrupted(let context):
        if context.codingPath.isEmpty, let reason = context.underlyingError as? JSONError { return "\(root) is not JSON: \(reason)" }
        if let number = numberOutOfRange(context.debugDescription) {
            return "\(place(context.codingPath, root)) must be a whole number in the range that the function takes, and is \(number)."
        }
        return "\(place(context.codingPath, root)): \(context.debugDescription)"
    @unknown default:
        return "\(root) is not valid."
    }
}

/// The number in the decoder's "The number 3.5 does not fit Int."; nil for every other text.
private func numberOutOfRange(_ description: String) -> Substring? {
    let start = "The number "
    guard description.hasPrefix(start), let end = description.firstRange(of: " does not fit "), description[end.upperBound...].contains("Int") else {
        return nil
    }
    return description[..<end.lowerBound].dropFirst(start.count)
}

/// The JSON name of the values that a type is read from; nil for a type that decides that itself.
private func name(of type: Any.Type) -> String? {
    switch type {
    case is String.Type: "text"
    case is Bool.Type: "true or false"
    case is any FixedWidthInteger.Type: "a whole number"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [String: Any].Type: "an object"
    case is [Any].Type: "a list"
    default: nil
    }
}

/// The JSON name of the value that the decoder found: `string.`
private func name(ofFound kind: Substring) -> String? {
    switch kind {
    case "string.": "text"
    case "bool.": "true or false"
    case "number.": "a number"
    case "object.": "an object"
    case "array.": "a list"
    default: nil
    }
}

private func place(_ path: [any CodingKey], _ root: String) -> String {
    path.reduce(root) { place, key in
        if let index = key.intValue { "\(place)[\(index)]" } else { "\(place).\(key.stringValue)" }
    }
}
