// A mail server for development: receives mails by SMTP on MAIL_PORT and shows them at http://localhost:MAIL_CLIENT_PORT/email.
import { createServer } from 'node:http';
import { callbackify } from 'node:util';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

const letters = [];

const receive = callbackify(async (stream) => {
  const { to, subject, text } = await simpleParser(stream);
  letters.push({ to: to.value, subject, text });
});

const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData: (stream, _session, done) => receive(stream, done),
});
smtp.listen(Number(process.env.MAIL_PORT ?? 1025));

createServer((request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(request.url === '/email' ? letters : {}));
}).listen(Number(process.env.MAIL_CLIENT_PORT ?? 1080));
