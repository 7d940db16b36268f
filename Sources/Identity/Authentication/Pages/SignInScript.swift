/// Scripts of the sign-in pages. They are part of their pages, whose policy names them by their hashes: no other script runs there.
enum SignInScript {
    /// Delivers the result of a sign-in to the application: to the frame of this host in the page that opened the popup, to the page to return
    /// to by way of the session's storage, or to a native application by its scheme.
    static let delivery = """
        'use strict';
        function fail(text) {
          document.body.textContent = 'Sign-in failed: ' + text;
          throw new Error(text);
        }
        function relay(entry, event) {
          let sent = false;
          for (let i = 0; window.opener && i < window.opener.frames.length; i++) {
            try {
              const frame = window.opener.frames[i];
              const query = new URLSearchParams(frame.location.search);
              if (query.get('apiKey') !== entry.apiKey || query.get('appName') !== entry.appName) continue;
              const eventId = String(Math.floor(Math.random() * 1e16));
              const data = { authEvent: event, storageKey: entry.apiKey + ':' + entry.appName };
              frame.postMessage({ data, eventId, eventType: 'sendAuthEvent' }, location.origin);
              sent = true;
            } catch (error) {
              // A frame of another site.
            }
          }
          if (!sent) fail('the page that opened this window is gone.');
        }
        function nativeAddress(entry, event) {
          const query = '&eventId=' + encodeURIComponent(event.eventId || '');
          const type = encodeURIComponent(event.type || '');
          const link = encodeURIComponent(event.urlResponse);
          if (entry.apn) {
            if (!/^[A-Za-z][\\w.]*$/.test(entry.apn)) fail('the package name is wrong.');
            return 'intent://firebase.auth/#Intent;scheme=genericidp;package=' + entry.apn + ';S.authType=' + type + ';S.eventId=' +
              encodeURIComponent(event.eventId || '') + ';S.link=' + link + ';B.encryptionEnabled=false;end;';
          }
          const back = location.origin + '/__/auth/callback?authType=' + type + '&link=' + link + query;
          let scheme = entry.ibi;
          if (entry.clientId) scheme = entry.clientId.split('.').reverse().join('.');
          else if (entry.appId) scheme = 'app-' + entry.appId.replace(/:/g, '-');
          const isWeb = /^(javascript|data|vbscript|https?|file|blob)$/i.test(scheme);
          if (isWeb || !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme)) fail('the scheme is wrong.');
          return scheme + '://' + (entry.clientId || entry.appId ? 'firebaseauth' : 'google') + '/link?deep_link_id=' + encodeURIComponent(back);
        }
        function deliver(entry, event) {
          if (/popup/i.test(entry.authType || '')) return relay(entry, event);
          if (entry.apn || entry.ibi) return location.replace(nativeAddress(entry, event));
          if (!/^https?:[/][/]/i.test(entry.redirectUrl || '')) fail('there is no page to return to.');
          sessionStorage['firebase:redirectEvent:' + entry.apiKey + ':' + entry.appName] = JSON.stringify(event);
          location.replace(entry.redirectUrl);
        }
        function entryOf(query) {
          const entry = {};
          for (const name of ['apiKey', 'appName', 'authType', 'providerId', 'redirectUrl', 'eventId', 'scopes', 'customParameters', 'sessionId',
            'clientId', 'appId', 'apn', 'ibi']) {
            if (query.get(name) !== null) entry[name] = query.get(name);
          }
          entry.tenantId = query.get('tid') || query.get('tenantId');
          return entry;
        }

        """

    /// The frame in the application's page. Google's script, which the SDK uses too, carries messages between the two.
    static let frame = """
        'use strict';
        const query = new URLSearchParams(location.search);
        const storageKey = query.get('apiKey') + ':' + query.get('appName');
        const stored = 'firebase:redirectEvent:' + storageKey;
        let parentPage = null;
        function send(authEvent) {
          const none = { type: 'unknown', error: { code: 'auth/no-auth-event' } };
          parentPage.send('authEvent', { type: 'authEvent', authEvent: authEvent || none }, function () {}, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
        }
        window.addEventListener('message', function (message) {
          const data = message.data;
          // Other pages must not sign anybody in.
          if (message.origin !== location.origin || !data || data.eventType !== 'sendAuthEvent') return;
          if (!data.data || data.data.storageKey !== storageKey) return;
          if (parentPage) send(data.data.authEvent);
          else sessionStorage[stored] = JSON.stringify(data.data.authEvent);
        });
        function begin() {
          parentPage = gapi.iframes.getContext().getParentIframe();
          parentPage.register('webStorageSupport', function () {
            return { status: 'ACK', webStorageSupport: true };
          }, gapi.iframes.CROSS_ORIGIN_IFRAMES_FILTER);
          let event = null;
          try {
            event = JSON.parse(sessionStorage[stored] || 'null');
          } catch (error) {
            event = null;
          }
          delete sessionStorage[stored];
          send(event);
        }
        window.gapi_onload = function () {
          gapi.load('gapi.iframes', { callback: begin });
        };

        """

    /// The widget of development: an account of the provider is chosen or made up.
    static let widget = """
        const entry = entryOf(new URLSearchParams(location.search));
        function field(id) { return document.getElementById(id); }
        function toggleForm(isShown) {
          field('add-user').hidden = !isShown;
          field('accounts-list').hidden = isShown;
        }
        function finish(claims) {
          let answer = location.origin + location.pathname + '?providerId=' + encodeURIComponent(entry.providerId);
          answer += '&id_token=' + encodeURIComponent(claims);
          if (entry.providerId.startsWith('saml.')) answer += '&SAMLResponse=';
          deliver(entry, {
            type: entry.authType || null, eventId: entry.eventId || null, urlResponse: answer, sessionId: 'ValueNotUsedByAuthEmulator',
            postBody: '', tenantId: entry.tenantId, error: null,
          });
        }
        function isValid() {
          const isValid = field('email-input').value.includes('@');
          field('sign-in').disabled = !isValid;
          return isValid;
        }
        for (const account of document.querySelectorAll('.js-reuse-account')) {
          account.addEventListener('click', function () { finish(account.dataset.claims); });
        }
        document.querySelector('.js-new-account').addEventListener('click', function () { toggleForm(true); });
        field('back-button').addEventListener('click', function () { toggleForm(false); });
        field('email-input').addEventListener('input', isValid);
        field('autogen-button').addEventListener('click', function () {
          const names = ['otter', 'peach', 'olive', 'panda', 'fern', 'heron', 'maple', 'badger'];
          const pick = function () { return names[Math.floor(Math.random() * names.length)]; };
          const [first, last] = [pick(), pick()];
          const title = function (name) { return name[0].toUpperCase() + name.slice(1); };
          field('email-input').value = first + '.' + last + '.' + Math.floor(Math.random() * 1000) + '@example.com';
          field('display-name-input').value = title(first) + ' ' + title(last);
          field('screen-name-input').value = last + '_' + first;
          isValid();
        });
        field('main-form').addEventListener('submit', function (event) {
          event.preventDefault();
          if (!isValid()) return;
          const text = function (id) { return field(id).value || undefined; };
          let sub = '';
          for (const byte of crypto.getRandomValues(new Uint8Array(40))) sub += byte % 10;
          finish(JSON.stringify({
            sub, iss: '', aud: '', exp: 0, iat: 0, name: text('display-name-input'), screen_name: text('screen-name-input'),
            email: text('email-input'), email_verified: true, picture: text('profile-photo-input'),
          }));
        });

        """

    /// The handler of production: leads to the provider's page, and takes its answer.
    static let handler = """
        const query = new URLSearchParams(location.search);
        const fragment = new URLSearchParams(location.hash.slice(1));
        const pendingKey = 'hearth:pendingSignIn';
        async function begin() {
          const entry = entryOf(query);
          if (!entry.sessionId || !(entry.apn || entry.ibi)) {
            entry.sessionId = '';
            for (const byte of crypto.getRandomValues(new Uint8Array(32))) entry.sessionId += byte.toString(16).padStart(2, '0');
          }
          const body = { providerId: entry.providerId, continueUri: location.origin + location.pathname, sessionId: entry.sessionId };
          if (entry.tenantId) body.tenantId = entry.tenantId;
          if (entry.scopes) body.oauthScope = entry.scopes;
          try {
            if (entry.customParameters) body.customParameter = JSON.parse(entry.customParameters);
          } catch (error) {
            fail('the custom parameters are no JSON.');
          }
          const path = '/identitytoolkit.googleapis.com/v1/accounts:createAuthUri?key=' + encodeURIComponent(entry.apiKey);
          const headers = { 'Content-Type': 'application/json' };
          // The App Check token of the page that opened this one.
          if (fragment.get('fac')) headers['X-Firebase-AppCheck'] = fragment.get('fac');
          const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
          const page = await answer.json();
          if (!answer.ok) return refuse(entry, page.error && page.error.message);
          entry.state = new URL(page.authUri).searchParams.get('state');
          sessionStorage[pendingKey] = JSON.stringify(entry);
          location.replace(page.authUri);
        }
        function event(entry, more) {
          return Object.assign({
            type: entry.authType || null, eventId: entry.eventId || null, urlResponse: null, sessionId: entry.sessionId, postBody: null,
            tenantId: entry.tenantId || null, error: null,
          }, more);
        }
        function refuse(entry, message) {
          const codes = {
            OPERATION_NOT_ALLOWED: 'operation-not-allowed', UNAUTHORIZED_DOMAIN: 'unauthorized-domain',
            INVALID_CONTINUE_URI: 'invalid-continue-uri', access_denied: 'user-cancelled',
          };
          const code = codes[String(message).split(' : ')[0]] || 'internal-error';
          deliver(entry, event(entry, { error: { code: 'auth/' + code, message: String(message) } }));
        }
        function finish() {
          const state = query.get('state') || fragment.get('state');
          let entry = null;
          try {
            entry = JSON.parse(sessionStorage[pendingKey] || 'null');
          } catch (error) {
            entry = null;
          }
          delete sessionStorage[pendingKey];
          // The answer has to be that of the sign-in which this window began.
          if (!entry || !entry.state || entry.state !== state) fail('it was begun in another window.');
          const error = query.get('error') || fragment.get('error');
          if (error) return refuse(entry, error);
          deliver(entry, event(entry, { urlResponse: location.href }));
        }
        if (query.get('providerId')) begin().catch(function (error) { fail(error.message); });
        else finish();

        """
}
