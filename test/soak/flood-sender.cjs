// Sends wrong logins at a fixed rate, without waiting for the answers. It runs in a separate process, so that its work
// does not delay the measured requests.
const http = require('node:http');

const { url, seconds, perSecond, addresses, network } = JSON.parse(process.env.FLOOD);
const agent = new http.Agent({ keepAlive: true });
const statuses = {};

const addressOf = (i) => `198.${network}.${(i % addresses) >> 8}.${(i % addresses) & 255}`;

function send(i) {
  const body = JSON.stringify({ email: `nobody-${i}@example.com`, password: 'wrong-horse' });
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-forwarded-for': addressOf(i),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${url}/auth/login`, { method: 'POST', agent, headers }, (response) => {
      statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
      response.resume().once('end', resolve);
    });
    request.once('error', reject).end(body);
  });
}

const start = performance.now();
const all = [];
const timer = setInterval(() => {
  const target = Math.min(seconds, (performance.now() - start) / 1000) * perSecond;
  while (all.length < target) all.push(send(all.length));
  if (all.length < seconds * perSecond) return;
  clearInterval(timer);
  void Promise.all(all).then(() => process.send(statuses, () => process.exit()));
}, 1);
