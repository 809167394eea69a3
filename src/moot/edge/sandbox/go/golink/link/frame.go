package link

import (
	"encoding/binary"
	"io"
)

// A frame is its length, its kind, the number of the call it belongs to, and data.
const (
	FrameOpen     = 'O' // tests: start the program for this package
	FrameKill     = 'K' // tests: start it anew
	FrameCall     = 'C' // a function is called, on either side
	FrameAnswer   = 'A' // what came of it
	FrameReady    = 'R' // the program runs
	FrameDied     = 'D' // it ended, and why
	FrameBroken   = 'B' // it cannot be built, and why
	FramePrinted  = 'P' // what it printed: the number says where
	mostOfFrame   = 64 << 20
	headerOfFrame = 4 + 1 + 8
)

type Frame struct {
	Kind byte
	Call uint64
	Data []byte
}

func WriteFrame(to io.Writer, f Frame) error {
	if len(f.Data) > mostOfFrame {
		return io.ErrShortWrite
	}
	out := make([]byte, headerOfFrame, headerOfFrame+len(f.Data))
	binary.LittleEndian.PutUint32(out, uint32(len(f.Data)))
	out[4] = f.Kind
	binary.LittleEndian.PutUint64(out[5:], f.Call)
	_, err := to.Write(append(out, f.Data...))
	return err
}

func ReadFrame(from io.Reader) (Frame, error) {
	header := make([]byte, headerOfFrame)
	if _, err := io.ReadFull(from, header); err != nil {
		return Frame{}, err
	}
	size := binary.LittleEndian.Uint32(header)
	if size > mostOfFrame {
		return Frame{}, io.ErrUnexpectedEOF
	}
	f := Frame{Kind: header[4], Call: binary.LittleEndian.Uint64(header[5:])}
	// Grown while it arrives: a length alone costs nothing.
	for uint32(len(f.Data)) < size {
		part := make([]byte, min(size-uint32(len(f.Data)), 1<<20))
		if _, err := io.ReadFull(from, part); err != nil {
			return Frame{}, err
		}
		f.Data = append(f.Data, part...)
	}
	return f, nil
}
