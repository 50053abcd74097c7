// A plugin of typedoc: names the modules by their `@module`, and sorts the exports of the library by the comments of `index.ts`.
import { readFileSync } from 'node:fs';
import { Comment, CommentTag, Converter, PageEvent, ReflectionKind } from 'typedoc';

const SOURCE = '../libs/auth/src';

/** The scope of all import paths. Addresses do not have it; titles and the list of the modules do. */
const SCOPE = '@svc/';

/** Sections of classes that Nest creates: their constructors are no public API. */
const CREATED_BY_NEST = new Set(['Module', 'Injectables', 'Decorators and guards']);
const CREATED_BY_HOSTS = new Set(['ServerRequest', 'ValidationPipe']);

/** The section of each export: the line comment above its export statement. Types of the options are in "Options". */
function sections() {
  const found = new Map();
  let section = '';
  for (const part of readFileSync(`${SOURCE}/index.ts`, 'utf8').split(/^(?=\/\/ |export )/m)) {
    if (part.startsWith('// ')) section = part.slice(3).trim();
    for (const name of part.match(/\{([^}]*)\}/)?.[1].split(',') ?? [])
      found.set(name.trim().replace(/^type /, ''), section);
  }
  return found;
}

const filesOf = (reflection) => (reflection.sources ?? []).map(({ fullFileName }) => fullFileName);

/** The section of a constructor with one heading. */
const ofConstructor = (section) =>
  section
    .replace(/^## Constructors\n\n### Constructor\n/, '## Constructor\n')
    .replace(/^#### Returns\n\n.*\n\n?/m, '')
    .replaceAll(/^####/gm, '###');

export function load(app) {
  app.renderer.on(PageEvent.END, (page) => {
    if (page.url === 'index.md') page.contents = page.contents.replaceAll(/^\| \[/gm, `$&${SCOPE}`);
    // The file of a page is the one of its members, and the links would be a tenth of the reference.
    const [beginning, ...members] = page.contents.split(/(?<=^Defined in: .*\n)/m);
    page.contents = beginning + members.join('').replaceAll(/^Defined in: .*\n\n?/gm, '');
    // The signature of a constructor names its class, and a caller does not ask what a member overrides.
    page.contents = page.contents
      .split(/^(?=## )/m)
      .map((part) => (part.startsWith('## Constructors') ? ofConstructor(part) : part))
      .join('')
      .replaceAll(/^#### Overrides\n\n.*\n\n?/gm, '');
  });
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    const named = sections();
    for (const module of project.children) {
      if (!module.name.startsWith(SCOPE)) throw new Error(`${module.name} has no comment with @module`);
      module.name = module.name.slice(SCOPE.length);
      // They are on the page of the class or interface that declares them, which each page names.
      for (const child of module.children)
        for (const member of (child.children ?? []).filter(({ inheritedFrom }) => inheritedFrom))
          project.removeReflection(member);
      if (module.name !== 'auth') continue;
      for (const child of module.children) {
        const ofOptions = filesOf(child).some((file) => file.endsWith('config/auth-options.ts'));
        const section = named.get(child.name) || (ofOptions ? 'Options' : undefined);
        if (!section) throw new Error(`${child.name} is in no section of ${SOURCE}/index.ts`);
        child.comment ??= new Comment();
        child.comment.blockTags.push(new CommentTag('@category', [{ kind: 'text', text: section }]));
        if (!CREATED_BY_NEST.has(section) || CREATED_BY_HOSTS.has(child.name)) continue;
        for (const maker of child.getChildrenByKind(ReflectionKind.Constructor)) project.removeReflection(maker);
      }
    }
  });
}
