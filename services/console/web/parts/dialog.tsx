import * as Primitive from '@radix-ui/react-dialog';
import type { ReactElement, ReactNode } from 'react';
import { words } from '../words/index.js';
import { Icon } from './icon.js';

interface DialogProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** At the side, over the whole height. */
  readonly side?: boolean;
}

export function Dialog({ title, about, open, onClose, children, side = false }: DialogProps): ReactElement {
  return (
    <Primitive.Root open={open} onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Primitive.Portal>
        <Primitive.Overlay className={side ? 'overlay light' : 'overlay'} />
        <Primitive.Content
          className={side ? 'dialog side' : 'dialog'}
          {...(about === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className="dialog-head">
            <Primitive.Title className="dialog-title">{title}</Primitive.Title>
            <Primitive.Close className="button quiet" aria-label={words.close}>
              <Icon name="close" />
            </Primitive.Close>
          </header>
          {about === undefined ? null : (
            <Primitive.Description asChild>
              <div className="dialog-about">{about}</div>
            </Primitive.Description>
          )}
          {children}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
