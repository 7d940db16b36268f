import Store

/// The open store of a namespace, with its tree and outbox. Created again after a rollback, because tree and outbox cache some of the stored
/// state.
final class NamespaceContent: StoreContent {
    let store: any OrderedStore
    let tree: TreeWriter
    let outbox: Outbox

    var transactions: any TransactionalStore { store }

    init(_ store: any OrderedStore, namespace: String) throws(StoreError) {
        self.store = store
        tree = try TreeWriter(store)
        outbox = try Outbox(store, namespace: namespace)
    }
}
