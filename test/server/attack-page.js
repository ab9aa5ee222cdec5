// What a page of another site can send to an address without asking anybody. Served by the test as that page's script.

/** Resolves with the first of these events, or after a second: some of what a browser refuses it refuses silently. */
const settled = (target, ...names) =>
  new Promise((resolve) => {
    for (const name of names) target.addEventListener(name, () => resolve(name), { once: true });
    setTimeout(() => resolve('nothing'), 1000);
  });

const element = (name, fields) => {
  const made = Object.assign(document.createElement(name), fields);
  document.body.append(made);
  return made;
};

/** @returns what could be read of the answers */
window.attack = async (target, session, password) => {
  const read = [];
  const requests = [
    ['POST', '/api/auth/logout', undefined],
    ['POST', '/api/auth/refresh', undefined],
    ['DELETE', '/api/auth/sessions', undefined],
    ['DELETE', `/api/auth/sessions/${session}`, undefined],
    ['POST', '/api/auth/change-password', { current_password: password, new_password: 'taken over by evil' }],
    ['POST', '/api/login', { email: 'admin', password }],
    ['POST', '/ui/login', { email: 'admin', password }],
    ['GET', '/api/auth/me', undefined],
    ['GET', '/api/version', undefined],
    ['GET', '/api/health', undefined],
    ['GET', '/', undefined],
  ];
  for (const [method, path, body] of requests) {
    for (const mode of ['cors', 'no-cors', 'same-origin']) {
      for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
        try {
          const answer = await fetch(target + path, {
            method,
            mode,
            credentials: 'include',
            headers: { 'content-type': type },
            ...(method === 'GET' ? {} : { body: body === undefined ? null : JSON.stringify(body) }),
          });
          if (answer.type !== 'opaque' || (await answer.text()) !== '') read.push(`${method} ${path} ${mode} ${type}`);
        } catch {
          // Refused by the browser.
        }
      }
    }
  }
  navigator.sendBeacon(`${target}/api/auth/logout`, new Blob(['{}'], { type: 'text/plain' }));
  for (const [name, fields] of [
    ['img', { src: `${target}/api/version` }],
    ['script', { src: `${target}/assets/app-1234.js` }],
    ['link', { rel: 'stylesheet', href: `${target}/assets/app-1234.js` }],
  ]) {
    if ((await settled(element(name, fields), 'load', 'error')) === 'load') read.push(name);
  }
  const frame = element('iframe', { src: `${target}/` });
  await settled(frame, 'load');
  try {
    if (frame.contentWindow.document.title !== '') read.push('iframe');
  } catch {
    // Not to be looked into.
  }
  const events = new EventSource(`${target}/api/events`, { withCredentials: true });
  if ((await settled(events, 'open', 'error')) === 'open') read.push('events');
  events.close();
  const socket = new WebSocket(`${target.replace('http', 'ws')}/api/events`);
  if ((await settled(socket, 'open', 'error')) === 'open') read.push('socket');
  for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
    const into = element('iframe', { name: `into-${enctype}` });
    const form = element('form', { method: 'POST', action: `${target}/api/auth/logout`, enctype, target: into.name });
    form.append(Object.assign(document.createElement('input'), { name: '{"a":"', value: '"}' }));
    form.submit();
    await settled(into, 'load');
  }
  return read;
};
