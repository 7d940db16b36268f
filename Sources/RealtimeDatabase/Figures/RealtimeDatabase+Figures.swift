public import EventLoop

/// A part of a namespace's figures, as its threads tell them.
public enum NamespaceFigures: Sendable {
    case writer(WriterFigures)
    case reader(ReaderFigures)
}

extension RealtimeDatabase {
    /// Asks every open namespace for its figures. `receive` is called on `loop` with each part; one whose disk does not answer
    /// comes late.
    ///
    /// - Returns: the names of those that were asked, each of which has two parts.
    public func askForFigures(
        on loop: EventLoop, receive: @escaping (_ namespace: String, _ part: NamespaceFigures) -> Void
    ) -> [String] {
        let answer = LoopBound(receive, loop: loop)
        let namespaces = openNamespaces
        for namespace in namespaces {
            let name = namespace.name
            namespace.onWriter { writer in
                let figures = writer.currentFigures
                loop.post { answer.value(name, .writer(figures)) }
            }
            namespace.onReader { reader in
                let figures = reader.figures
                loop.post { answer.value(name, .reader(figures)) }
            }
        }
        return namespaces.map(\.name)
    }
}
