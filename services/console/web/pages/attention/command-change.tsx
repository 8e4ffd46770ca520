import type { ReactElement } from 'react';
import { Foreign } from '../../parts/index.js';
import { wordDiff, type WordPiece } from './word-diff.js';

interface CommandChangeProps {
  readonly before: string;
  readonly after: string;
  readonly title: string;
}

/** A command line beside the one that was asked about: what is taken out is struck through, what is put in underlined. */
export function CommandChange({ before, after, title }: CommandChangeProps): ReactElement {
  return (
    <figure className="command-change">
      <figcaption className="faint">{title}</figcaption>
      <pre className="command">
        {wordDiff(before, after).map((piece, index) => (
          // Pieces of one text never change places.
          <Piece key={index} of={piece} />
        ))}
      </pre>
    </figure>
  );
}

function Piece({ of: { is, text } }: { readonly of: WordPiece }): ReactElement {
  if (is === 'same') return <Foreign text={text} />;
  const Tag = is === 'removed' ? 'del' : 'ins';
  return (
    <Tag>
      <Foreign text={text} />
    </Tag>
  );
}
